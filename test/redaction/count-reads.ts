import { widthOf } from './pattern-width.ts'

/**
 * How many characters `act` hands to regular expressions, to methods of strings and to `Buffer.toString`. Each of them reads forward over
 * what it is given: `widthOf` refuses patterns that read on without bound or try the same characters again. The number is the same on
 * every machine.
 */
export function readsIn(act: () => void): number {
  let count = 0
  const texts: Record<string, Count> = {
    charCodeAt: one,
    charAt: one,
    at: one,
    codePointAt: one,
    startsWith: (text, [start, from]) => sharedLength(text, String(start), Number(from ?? 0)) + 1,
    endsWith: (_, [end]) => String(end).length,
    indexOf: (text, [sought, from], at) => distance(text, String(sought), Number(at)) - Number(from ?? 0),
    lastIndexOf: (text, _, at) => text.length - Math.max(0, Number(at)),
    includes: whole,
    replaceAll: whole,
    split: whole,
    toWellFormed: whole,
    slice: result,
    substring: result,
  }
  const undo = Object.entries(texts).map(([name, counted]) =>
    replace(String.prototype, name, (own, text, args) => {
      const value = own()
      count += counted(String(text), args, value)
      return value
    }),
  )
  undo.push(
    replace(Buffer.prototype, 'toString', (own) => {
      const text = own()
      count += String(text).length
      return text
    }),
    replace(RegExp.prototype, 'exec', (own, pattern, [text]) => {
      if (!(pattern instanceof RegExp)) throw new Error('exec of no pattern')
      const from = pattern.global || pattern.sticky ? pattern.lastIndex : 0
      const rest = String(text).length - from
      const found = own()
      const at = Array.isArray(found) && 'index' in found ? Number(found.index) + String(found[0]).length : -1
      const width = widthOf(pattern.source)
      if (pattern.sticky) count += Math.min(width, rest)
      else count += at === -1 ? rest : at - from
      return found
    }),
  )
  try {
    act()
  } finally {
    for (const each of undo) each()
  }
  return count
}

type Count = (text: string, args: readonly unknown[], result: unknown) => number

const one = () => 1
const whole: Count = (text) => text.length
const result: Count = (_, _args, part) => String(part).length

function sharedLength(text: string, start: string, from: number): number {
  let length = 0
  while (length < start.length && text[from + length] === start[length]) length++
  return length
}

function distance(text: string, sought: string, at: number): number {
  return at === -1 ? text.length : at + sought.length
}

type Wrap = (own: () => unknown, self: unknown, args: readonly unknown[]) => unknown

/** Returns how to put the method back. While `wrap` counts, all methods are those of Node. */
function replace(prototype: object, name: string, wrap: Wrap): () => void {
  const descriptor = Object.getOwnPropertyDescriptor(prototype, name)
  const method: unknown = descriptor?.value
  if (descriptor === undefined || typeof method !== 'function') throw new Error(`there is no ${name}`)
  Object.defineProperty(prototype, name, {
    ...descriptor,
    value(this: unknown, ...args: unknown[]) {
      return wrap(() => Reflect.apply(method, this, args), this, args)
    },
  })
  return () => void Object.defineProperty(prototype, name, descriptor)
}
