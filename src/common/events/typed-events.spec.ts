import { TypedEvents } from './typed-events';

interface Map {
  saved: [id: string];
}

describe('TypedEvents', () => {
  it('tells every listener until it is taken off', () => {
    const events = new TypedEvents<Map>();
    const heard: string[] = [];
    const off = events.on('saved', (id) => heard.push(`a ${id}`));
    events.on('saved', (id) => heard.push(`b ${id}`));
    events.tell('saved', '1');
    off();
    events.tell('saved', '2');
    expect(heard).toEqual(['a 1', 'b 1', 'b 2']);
  });

  it('lets neither the teller nor other listeners suffer from one that throws, and reports it', () => {
    const failures: unknown[] = [];
    const events = new TypedEvents<Map>((event, error) => failures.push([event, error]));
    const heard: string[] = [];
    const error = new Error('metric');
    events.on('saved', () => {
      throw error;
    });
    events.on('saved', (id) => heard.push(id));
    expect(() => events.tell('saved', '1')).not.toThrow();
    expect(heard).toEqual(['1']);
    expect(failures).toEqual([['saved', error]]);
  });

  it('lets a listener take itself off while it is told', () => {
    const events = new TypedEvents<Map>();
    let calls = 0;
    const off = events.on('saved', () => {
      calls += 1;
      off();
    });
    events.on('saved', () => (calls += 10));
    events.tell('saved', '1');
    events.tell('saved', '2');
    expect(calls).toBe(21);
  });
});
