import { requestedRange } from './audio-range';

describe('requestedRange', () => {
  it.each([
    [undefined, undefined],
    ['bytes=0-0', { start: 0, end: 0 }],
    ['bytes=90-', { start: 90, end: 99 }],
    ['bytes=-10', { start: 90, end: 99 }],
    ['bytes=50-1000', { start: 50, end: 99 }],
    ['bytes=100-', null],
    ['bytes=5-2', undefined],
    ['bytes=-1000', { start: 0, end: 99 }],
    ['bytes=-0', null],
    ['bytes=abc', undefined],
    ['bytes=0-1,5-6', undefined],
    ['seconds=0-1', undefined],
    ['nonsense', undefined],
  ])('understands %j', (header, expected) => {
    const range = requestedRange(header, 100);
    expect(range === null ? null : range && { start: range.start, end: range.end }).toEqual(
      expected === undefined ? undefined : expected,
    );
  });
});
