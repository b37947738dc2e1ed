/**
 * The bytes of a WebAssembly module with `count` imports `f0`, `f1`, ... of `m`, no two of one type, at most 729. Export
 * `g0(n)` calls `f0` n times, and so on. V8 makes machine code for the calls of each type after some hundreds of them, once
 * for all threads: this is the code whose collection has the fault.
 */
export function manyImports(count: number): Uint8Array<ArrayBuffer> {
  const types = Array.from({ length: count }, (_, nth) => parametersOf(nth))
  const each = <Item>(make: (parameters: readonly Parameter[], nth: number) => Item) => types.map(make)
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, [
      ...each((parameters) => [0x60, ...list(parameters.map(({ type }) => [type])), 0]),
      [0x60, 1, int, 0],
    ]),
    ...section(
      2,
      each((_, nth) => [...text('m'), ...text(`f${nth}`), 0, ...unsigned(nth)]),
    ),
    ...section(
      3,
      each(() => unsigned(count)),
    ),
    ...section(
      7,
      each((_, nth) => [...text(`g${nth}`), 0, ...unsigned(count + nth)]),
    ),
    ...section(
      10,
      each((parameters, nth) => sized([0, ...loopOf(parameters, nth), 0x0b])),
    ),
  ])
}

interface Parameter {
  type: number
  /** An instruction that pushes a value of the type. */
  push: readonly number[]
}

const int = 0x7f
const parameters: readonly Parameter[] = [
  { type: int, push: [0x41, 1] },
  { type: 0x7c, push: [0x44, 0, 0, 0, 0, 0, 0, 0, 0] },
  { type: 0x7d, push: [0x43, 0, 0, 0, 0] },
]

/** Six parameters: the digits of the number to base three. */
function parametersOf(nth: number): Parameter[] {
  return Array.from({ length: 6 }, (_, digit) => Math.floor(nth / 3 ** digit) % 3).flatMap(
    (digit) => parameters[digit] ?? [],
  )
}

/** loop; call the import; n = n - 1; again unless n is 0; end. */
function loopOf(parameters: readonly Parameter[], nth: number): number[] {
  const call = [...parameters.flatMap(({ push }) => push), 0x10, ...unsigned(nth)]
  return [0x03, 0x40, ...call, 0x20, 0, 0x41, 1, 0x6b, 0x22, 0, 0x0d, 0, 0x0b]
}

function section(id: number, items: readonly number[][]): number[] {
  return [id, ...sized(list(items))]
}

function list(items: readonly number[][]): number[] {
  return [...unsigned(items.length), ...items.flat()]
}

function text(value: string): number[] {
  return sized([...Buffer.from(value)])
}

function sized(bytes: number[]): number[] {
  return [...unsigned(bytes.length), ...bytes]
}

/** LEB128. */
function unsigned(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...unsigned(value >>> 7)]
}
