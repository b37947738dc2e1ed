import { z } from 'zod'
import { type Caller, KeyRefused, type ReceivedAnswer, Unreachable } from './caller.ts'
import { type CheckFinding, type Known, readOpenAiError, shaped, WrongShape } from './format.ts'
import { jsonIn } from './json.ts'
import { broken, ignored, ok, unknown } from './judge.ts'

/** What belongs to no format: the model list, the usage log, one image. */

const list = z.object({ data: z.array(z.object({ id: z.string() })) })

/** The first call of a run. Throws Unreachable when there is no answer, or the key is refused. */
export async function checkModels(
  caller: Caller,
  { base, model, key }: { base: string; model: string; key: string },
): Promise<CheckFinding> {
  let received = await caller.send('/models', { authorization: `Bearer ${key}` })
  if (!('verdict' in received) && received.status === 401) {
    // Anthropic takes its keys in this header alone.
    received = await caller.send('/models', { 'x-api-key': key, 'anthropic-version': '2023-06-01' })
  }
  if ('verdict' in received) {
    if (received.verdict !== 'broken') return received
    throw new Unreachable(
      `No answer from ${base}: ${received.detail}. Is the server running, and is --base right?`,
    )
  }
  const { status, text } = received
  if (status === 401)
    throw new KeyRefused(`${base} refuses the key: ${saidIn(caller, received)} Is it the key of this server?`)
  if (status >= 300 && status < 400) {
    const location = received.headers.get('location') ?? 'another address'
    throw new Unreachable(`${base} redirects to ${caller.shown(location)}: give --base that address.`)
  }
  if (status !== 200) return { verdict: 'refused', detail: saidIn(caller, received) }
  try {
    const { data } = shaped(list, jsonIn(text), 'the list')
    if (data.some(({ id }) => id === model))
      return ok(`${data.length} models, ${caller.shown(model)} among them`)
    return unknown(`${data.length} models, and ${caller.shown(model)} is not among them`)
  } catch (error) {
    if (error instanceof WrongShape) return broken(caller.shown(error.message))
    throw error
  }
}

const anyError = z.object({ error: z.object({ message: z.string() }) })

/** The error's message, in whatever envelope. */
function saidIn(caller: Caller, { status, text }: ReceivedAnswer): string {
  const parsed = anyError.safeParse(jsonIn(text))
  return caller.shown(`${status}: ${parsed.success ? parsed.data.error.message : text}`)
}

const row = z.object({
  id: z.string(),
  outcome: z.string(),
  tokens: z
    .object({
      input: z.int(),
      cache_read: z.int().nullable(),
      cache_write: z.int().nullable(),
      output: z.int(),
      reasoning: z.int().nullable(),
    })
    .nullable(),
  cost_nano_usd: z.string().nullable(),
})

/** Tollgate's usage log must have the row of the simple request, with the tokens that its answer reported. */
export async function checkUsageLog(
  caller: Caller,
  key: string,
  known: Known,
  requestId: string | undefined,
): Promise<CheckFinding> {
  const reply = known.get('simple request')
  if (reply === undefined) return unknown('not asked: no format answered the simple request')
  if (requestId === undefined)
    return unknown('the answer has no x-request-id: this server has no usage log of Tollgate')
  const received = await caller.send(`/usage/requests/${encodeURIComponent(requestId)}`, {
    authorization: `Bearer ${key}`,
  })
  if ('verdict' in received) return received
  if (received.status !== 200) return unknown(`${received.status}: this server has no usage log of Tollgate`)
  try {
    const { outcome, tokens, cost_nano_usd } = shaped(row, jsonIn(received.text), 'the row')
    if (outcome !== 'succeeded') return broken(`the row of an answered request says ${outcome}`)
    if (tokens === null) return ignored('the row has no tokens')
    const input = tokens.input + (tokens.cache_read ?? 0) + (tokens.cache_write ?? 0)
    const output = tokens.output + (tokens.reasoning ?? 0)
    const { usage } = reply
    if (usage !== undefined && (usage.input !== input || usage.output !== output))
      return broken(
        `the row has ${input} tokens in and ${output} out, the answer ${usage.input} and ${usage.output}`,
      )
    const cost = cost_nano_usd === null ? 'no price' : `${usdOf(cost_nano_usd)} USD`
    return ok(`the row has ${input} tokens in, ${output} tokens out, ${cost}`)
  } catch (error) {
    if (error instanceof WrongShape) return broken(caller.shown(error.message))
    throw error
  }
}

/** `57000` -> `0.000057` */
function usdOf(nano: string): string {
  return (Number(nano) / 1e9).toFixed(9).replace(/\.?0+$/, '')
}

const image = z.object({
  data: z.array(z.object({ b64_json: z.string().nullish(), url: z.string().nullish() })).min(1),
})

/** Makes one image. */
export async function checkImage(caller: Caller, key: string, model: string): Promise<CheckFinding> {
  const body = { model, prompt: 'A red square on white' }
  const received = await caller.send('/images/generations', { authorization: `Bearer ${key}` }, body)
  if ('verdict' in received) return received
  const { status, text } = received
  try {
    if (status !== 200) {
      const detail = caller.shown(`${status} ${readOpenAiError(jsonIn(text))}`)
      return { verdict: status >= 400 && status < 500 ? 'refused' : 'broken', detail }
    }
    const [first] = shaped(image, jsonIn(text), 'the answer').data
    if (first?.url) return ok('a link to an image')
    return first?.b64_json
      ? ok(`${first.b64_json.length} characters of base64`)
      : ignored('no image in the answer')
  } catch (error) {
    if (error instanceof WrongShape) return broken(caller.shown(error.message))
    throw error
  }
}
