/**
 * Ticks of the axis of values, from 0 to the first one that no value exceeds: at most five, by 1, 2 or 5 of a
 * power of ten. Of whole values they are whole.
 */
export function ticksOf(most: number, isWhole: boolean): number[] {
  if (!(most > 0)) return [0]
  const power = 10 ** Math.floor(Math.log10(most / 4))
  const rough = [1, 2, 5, 10].map((factor) => factor * power).find((step) => step * 4 >= most) ?? most
  const step = isWhole ? Math.max(1, rough) : rough
  const count = Math.ceil(most / step - 1e-9)
  // 3 * 0.1 is not 0.3.
  return Array.from({ length: count + 1 }, (_, tick) => Number((tick * step).toPrecision(12)))
}
