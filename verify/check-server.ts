import { z } from 'zod'
import { type Caller, KeyRefused, type ReceivedAnswer, Unreachable } from './caller.ts'
import { type CheckFinding, type Known, readOpenAiError, shaped, WrongShape } from './format.ts'
import { jsonIn } from './json.ts'
import { broken, ignored, ok, unknown } from './judge.ts'

/** The checks that do not belong to a format: the model list, the usage log and one image. */

const list = z.object({ data: z.array(z.object({ id: z.string() })) })

/** Makes the first call of a run. Throws Unreachable if there is no response or the key is rejected. */
export async function checkModels(
  caller: Caller,
  { base, model, key }: { base: string; model: string; key: string },
): Promise<CheckFinding> {
  let received = await caller.send('/models', { authorization: `Bearer ${key}` })
  if (!('verdict' in received) && received.status === 401) {
    // Anthropic accepts its keys only in this header.
    received = await caller.send('/models', { 'x-api-key': key, 'anthropic-version': '2023-06-01' })
  }
  if ('verdict' in received) {
    if (received.verdict !== 'broken') return received
    throw new Unreachable(
      `No response from ${base}: ${received.detail}. Check that the server is running and that --base is correct.`,
    )
  }
  const { status, text } = received
  if (status === 401)
    throw new KeyRefused(
      `${base} rejects the key: ${saidIn(caller, received)} Check that it is a key of this server.`,
    )
  if (status >= 300 && status < 400) {
    const location = received.headers.get('location') ?? 'another address'
    throw new Unreachable(`${base} redirects to ${caller.shown(location)}. Set --base to that address.`)
  }
  if (status !== 200) return { verdict: 'refused', detail: saidIn(caller, received) }
  try {
    const { data } = shaped(list, jsonIn(text), 'the list')
    if (data.some(({ id }) => id === model))
      return ok(`${data.length} models, including ${caller.shown(model)}`)
    return unknown(`${data.length} models, but not ${caller.shown(model)}`)
  } catch (error) {
    if (error instanceof WrongShape) return broken(caller.shown(error.message))
    throw error
  }
}

const anyError = z.object({ error: z.object({ message: z.string() }) })

/** Returns the error's message, whatever the envelope. */
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

/**
 * Checks that Tollgate's usage log contains the row of the simple request, with the tokens reported in the
 * response.
 */
export async function checkUsageLog(
  caller: Caller,
  key: string,
  known: Known,
  requestId: string | undefined,
): Promise<CheckFinding> {
  const reply = known.get('simple request')
  if (reply === undefined) return unknown('not checked: the simple request failed in every format')
  if (requestId === undefined)
    return unknown('the response has no x-request-id, so this server has no Tollgate usage log')
  const received = await caller.send(`/usage/requests/${encodeURIComponent(requestId)}`, {
    authorization: `Bearer ${key}`,
  })
  if ('verdict' in received) return received
  if (received.status !== 200) return unknown(`${received.status}: this server has no Tollgate usage log`)
  try {
    const { outcome, tokens, cost_nano_usd } = shaped(row, jsonIn(received.text), 'the row')
    if (outcome !== 'succeeded') return broken(`the row of a successful request has the outcome ${outcome}`)
    if (tokens === null) return ignored('the row has no tokens')
    const input = tokens.input + (tokens.cache_read ?? 0) + (tokens.cache_write ?? 0)
    const output = tokens.output + (tokens.reasoning ?? 0)
    const { usage } = reply
    if (usage !== undefined && (usage.input !== input || usage.output !== output))
      return broken(
        `the row has ${input} tokens in and ${output} out, but the response has ${usage.input} and ${usage.output}`,
      )
    const cost = cost_nano_usd === null ? 'no price' : `${usdOf(cost_nano_usd)} USD`
    return ok(`the row has ${input} tokens in, ${output} tokens out, ${cost}`)
  } catch (error) {
    if (error instanceof WrongShape) return broken(caller.shown(error.message))
    throw error
  }
}

/** Formats nano-USD: `57000` becomes `0.000057`. */
function usdOf(nano: string): string {
  return (Number(nano) / 1e9).toFixed(9).replace(/\.?0+$/, '')
}

const image = z.object({
  data: z.array(z.object({ b64_json: z.string().nullish(), url: z.string().nullish() })).min(1),
})

/** Generates one image. */
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
    const [first] = shaped(image, jsonIn(text), 'the response').data
    if (first?.url) return ok('a link to an image')
    return first?.b64_json
      ? ok(`${first.b64_json.length} characters of base64`)
      : ignored('no image in the response')
  } catch (error) {
    if (error instanceof WrongShape) return broken(caller.shown(error.message))
    throw error
  }
}
