import { type GatewayError, gatewayError } from '../../canonical/error.ts'
import { isRecord, type Json, recordsOf, textOf } from '../../canonical/json.ts'

/**
 * A tool call whose arguments arrive in pieces, as with `streamFunctionCallArguments`. Each piece contains
 * the path of its value. A string can be split into several pieces.
 *
 * https://googleapis.github.io/js-genai/release_docs/interfaces/types.PartialArg.html, read 2026-11-22
 */
export class PartialCall {
  readonly name: string | undefined
  readonly id: string | undefined
  signature: string | undefined
  readonly args: Json = emptyObject()
  /** The path of the string that continues in the next piece. */
  #continued: string | undefined

  constructor({ name, id }: Json) {
    this.name = textOf(name)
    this.id = textOf(id)
  }

  /** Throws GatewayError `upstream_error` for an invalid path. */
  add(partialArgs: unknown): void {
    for (const piece of recordsOf(partialArgs)) {
      const path = textOf(piece.jsonPath) ?? ''
      const value = givenValue(piece)
      if (value === undefined) continue
      const { owner, key } = placeOf(this.args, stepsOf(path))
      const before = path === this.#continued ? read(owner, key) : undefined
      write(owner, key, typeof before === 'string' && typeof value === 'string' ? before + value : value)
      this.#continued = piece.willContinue === true ? path : undefined
    }
  }
}

/** Whether a part of an answer is a piece of a call. */
export function isPiece(call: Json): boolean {
  return call.partialArgs !== undefined || call.willContinue === true
}

function givenValue({ stringValue, numberValue, boolValue, nullValue }: Json): unknown {
  return stringValue ?? numberValue ?? boolValue ?? (nullValue === undefined ? undefined : null)
}

type Step = string | number
type Owner = Json | unknown[]

/** Splits a path such as `$.foo['a.b'][0]` into steps. */
function stepsOf(path: string): Step[] {
  const steps: Step[] = []
  step.lastIndex = 1
  for (let at = 1; at < path.length; at = step.lastIndex) {
    const match = step.exec(path)
    if (match === null || steps.length >= stepsMax) throw badPath()
    const [, name, single, double, index] = match
    if (index !== undefined) steps.push(Number(index))
    else steps.push(name ?? (single ?? double ?? '').replace(/\\(.)/g, '$1'))
  }
  if (!path.startsWith('$') || steps.length === 0) throw badPath()
  return steps
}

const step = /\.([^.[\]]+)|\[(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|(\d{1,9}))\]/y
const stepsMax = 100

/** Returns the object or list that contains the last step. Missing ones on the way are created. */
function placeOf(root: Json, steps: readonly Step[]): { owner: Owner; key: Step } {
  let owner: Owner = root
  for (const [at, key] of steps.entries()) {
    const next = steps[at + 1]
    if (next === undefined) return { owner, key }
    let value = read(owner, key)
    if (!isRecord(value) && !Array.isArray(value)) {
      value = typeof next === 'number' ? [] : emptyObject()
      write(owner, key, value)
    }
    owner = isRecord(value) || Array.isArray(value) ? value : root
  }
  throw badPath()
}

function read(owner: Owner, key: Step): unknown {
  if (Array.isArray(owner)) return typeof key === 'number' ? owner[key] : undefined
  return owner[String(key)]
}

function write(owner: Owner, key: Step, value: unknown): void {
  if (!Array.isArray(owner)) owner[String(key)] = value
  // Elements arrive in order, so a list has no gaps.
  else if (typeof key === 'number' && key <= owner.length) owner[key] = value
  else throw badPath()
}

/** Has no prototype, so that any name is an ordinary member. */
function emptyObject(): Json {
  return Object.create(null)
}

function badPath(): GatewayError {
  return gatewayError('upstream_call_broken', { how: 'sent a part of a tool call that cannot be parsed.' })
}
