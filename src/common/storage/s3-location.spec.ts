import { AppError } from '../errors/app-error';
import { parseS3Location } from './s3-location';

describe('parseS3Location', () => {
  it('reads bucket, endpoint and region', () => {
    expect(
      parseS3Location('s3://recordings?endpoint=http://127.0.0.1:9000&region=eu-west-1'),
    ).toEqual({
      bucket: 'recordings',
      prefix: '',
      endpoint: 'http://127.0.0.1:9000',
      region: 'eu-west-1',
    });
  });

  it('reads an endpoint written in percent encoding', () => {
    expect(parseS3Location('s3://bucket?endpoint=https%3A%2F%2Fs3.example%3A444').endpoint).toBe(
      'https://s3.example:444',
    );
  });

  it.each(['s3://bucket/some/prefix', 's3://bucket/some/prefix/'])(
    'ends the prefix of %s with one slash',
    (url) => {
      expect(parseS3Location(url)).toEqual({
        bucket: 'bucket',
        prefix: 'some/prefix/',
        endpoint: undefined,
        region: undefined,
      });
    },
  );

  it('has no prefix for a lone slash', () => {
    expect(parseS3Location('s3://bucket/').prefix).toBe('');
  });

  it.each([
    'https://secret-bucket',
    's3://',
    's3://Secret_Bucket',
    's3://secret:word@bucket',
    's3://secret-bucket:9000',
    's3://bucket/a//secret',
    's3://bucket/Secret Word',
    's3://bucket#secret',
    's3://bucket?secret=1',
    's3://bucket?endpoint=secret',
    's3://bucket?endpoint=',
    's3://bucket?endpoint=ftp://secret',
    's3://bucket?endpoint=http://host/secret',
    's3://bucket?endpoint=http://secret:word@host',
    's3://bucket?region=secret word',
  ])('refuses %s, naming the setting and not the value', (url) => {
    let thrown: unknown;
    try {
      parseS3Location(url);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(AppError);
    expect(thrown).toMatchObject({
      code: 'config_invalid',
      detail: expect.stringMatching(/^STORAGE_URL /),
    });
    expect(JSON.stringify([String(thrown), thrown])).not.toMatch(/secret/i);
  });
});
