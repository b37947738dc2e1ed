/**
 * For `refetchInterval`: ask again every `ms`, once a first answer is there. Before it, an error would give
 * way to the skeleton at each try; so it stays, with its "Try again".
 */
export function every(ms: number) {
  return ({ state }: { state: { data: unknown } }): number | false => (state.data === undefined ? false : ms)
}
