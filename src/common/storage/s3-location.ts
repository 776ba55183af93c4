import { AppError } from '../errors/app-error';
import { isBlobKey } from './blob-key';

/** Where an S3 blob store keeps its objects. */
export interface S3Location {
  readonly bucket: string;
  /** What every object name begins with: empty, or words that end with a slash. */
  readonly prefix: string;
  /** Origin of an S3 server that is not Amazon's. */
  readonly endpoint: string | undefined;
  readonly region: string | undefined;
}

const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const REGION = /^[a-z0-9-]{1,64}$/;

/**
 * Reads `s3://bucket[/prefix][?endpoint=http://host:port][&region=name]`.
 * @throws AppError `config_invalid` that names STORAGE_URL and the rule, never the value
 */
export function parseS3Location(url: string): S3Location {
  const parsed = parseUrl(url);
  if (parsed?.protocol !== 's3:') {
    throw invalid('must look like s3://bucket?endpoint=http://host:port');
  }
  if (parsed.username !== '' || parsed.password !== '') {
    throw invalid('must not hold credentials; they come from AWS_ACCESS_KEY_ID and its like');
  }
  if (!BUCKET.test(parsed.hostname) || parsed.port !== '' || parsed.hash !== '') {
    throw invalid('must name a bucket after s3://');
  }
  const words = parsed.pathname.replace(/^\/|\/$/g, '');
  if (words !== '' && !isBlobKey(words)) {
    throw invalid('may only have words of a-z, 0-9, dot, underscore and hyphen after the bucket');
  }
  for (const name of parsed.searchParams.keys()) {
    if (name !== 'endpoint' && name !== 'region') {
      throw invalid('may only have the parameters endpoint and region');
    }
  }
  const region = parsed.searchParams.get('region') ?? undefined;
  if (region !== undefined && !REGION.test(region)) {
    throw invalid('must name a region of letters, digits and hyphens');
  }
  return {
    bucket: parsed.hostname,
    prefix: words === '' ? '' : `${words}/`,
    endpoint: parseEndpoint(parsed.searchParams.get('endpoint')),
    region,
  };
}

function parseEndpoint(value: string | null): string | undefined {
  if (value === null) {
    return undefined;
  }
  const parsed = parseUrl(value);
  const isOrigin =
    parsed !== undefined &&
    (parsed.protocol === 'http:' || parsed.protocol === 'https:') &&
    parsed.href === `${parsed.origin}/`;
  if (!isOrigin) {
    throw invalid('must have an endpoint like http://host:port, without path or credentials');
  }
  return parsed.origin;
}

function parseUrl(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}

function invalid(rule: string): AppError {
  return new AppError('config_invalid', { detail: `STORAGE_URL ${rule}` });
}
