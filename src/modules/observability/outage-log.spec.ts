import { FakeLogFactory } from '../../../test/fakes/fake-log';
import { AppError } from '../../common/errors/app-error';
import { OutageLog } from './outage-log';

describe('OutageLog', () => {
  it('records an outage once at its start and once at its end', () => {
    const logs = new FakeLogFactory();
    const outages = new OutageLog(logs.for('health'));
    const failure = new AppError('engine_unavailable', { cause: new Error('no such program') });
    outages.report('engine', null);
    outages.report('engine', failure);
    outages.report('engine', failure);
    outages.report('database', null);
    outages.report('engine', null);
    outages.report('engine', null);
    expect(logs.records).toEqual([
      {
        context: 'health',
        level: 'warn',
        message: 'part is down',
        fields: { part: 'engine', code: 'engine_unavailable', reason: 'no such program' },
      },
      {
        context: 'health',
        level: 'info',
        message: 'part is up again',
        fields: { part: 'engine' },
      },
    ]);
  });

  it('records a part that fails in another way than before', () => {
    const logs = new FakeLogFactory();
    const outages = new OutageLog(logs.for('health'));
    outages.report('storage', new AppError('storage_unavailable'));
    outages.report('storage', new AppError('storage_full'));
    expect(logs.records.map(({ fields }) => fields['code'])).toEqual([
      'storage_unavailable',
      'storage_full',
    ]);
  });
});
