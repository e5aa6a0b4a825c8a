/** `inner` with some of its members replaced, as a broken implementation would have them. */
export function altered<T extends object>(inner: T, members: Partial<T>): T {
  return new Proxy(inner, {
    get: (target, key) => {
      if (key in members) return Reflect.get(members, key) as unknown;
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}
