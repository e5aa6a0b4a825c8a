/** TRACE-026: a process at `off` or `errors` pays for no AsyncLocalStorage, which on Node.js 20 makes each of its awaits dear. */
import { startChild } from '../child.ts';

test.each(['off', 'errors'])(
  '[TRACE-026] at %s no AsyncLocalStorage is made or entered by hosts and calls',
  async (level) => {
    const child = startChild('storages.mjs', level);
    const counted = await child.event('counted');
    const end = await child.ended;
    expect([end.code, child.stderr]).toEqual([0, '']);
    expect(counted).toMatchObject({ made: 0, entered: 0, replies: 200, outcomes: ['stopped', 'stopped'] });
    expect(counted['afterwards']).toEqual({ made: 1, entered: 1 }); // and one would have been counted
  },
);
