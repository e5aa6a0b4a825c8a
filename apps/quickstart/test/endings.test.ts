import { Endings } from '../src/endings.ts';

test('[C25] what was started last is ended first, and everything once', async () => {
  const endings = new Endings();
  const ended: string[] = [];
  const end = (name: string) => () => Promise.resolve(void ended.push(name));
  endings.add(end('store'));
  endings.add(end('host'));
  await Promise.all([endings.run(), endings.run()]);
  await endings.run();
  expect(ended).toEqual(['host', 'store']);
});

test('[C25] what was still starting at the end is ended as soon as it is there', async () => {
  const endings = new Endings();
  await endings.run();
  const ended: string[] = [];
  endings.add(() => Promise.resolve(void ended.push('late')));
  expect(ended).toEqual(['late']);
});
