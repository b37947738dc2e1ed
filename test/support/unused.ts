/**
 * What endpoints get from those who only read what they say about themselves: they use their dependencies when a request comes, and no
 * request comes. Any member of it, and any call, is the same again; as a number it is 0.
 */
export const unused: unknown = new Proxy(() => {}, {
  get: (_, name) => (name === Symbol.toPrimitive ? () => 0 : unused),
  apply: () => unused,
})
