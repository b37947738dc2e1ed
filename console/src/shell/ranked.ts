/** Those with exactly these words first, then those that begin with them, then the others, in their order. */
export function ranked<Thing extends { name: string; id: string }>(
  things: readonly Thing[],
  words: string,
): Thing[] {
  const wanted = words.trim().toLowerCase()
  const rank = ({ name, id }: Thing) => {
    const own = name.toLowerCase()
    if (own === wanted || id.toLowerCase() === wanted) return 0
    return own.startsWith(wanted) ? 1 : 2
  }
  return things.toSorted((one, other) => rank(one) - rank(other))
}
