import type { Ask, Call, CheckFinding, CheckTurn, Known, Reply } from './format.ts'
import { hello, redPng, structured, toolInput, wordPdf } from './samples.ts'

// Helpers for checks, which judge whether a response shows the requested effect.

export const user = (text: string, png?: string): CheckTurn => ({
  role: 'user',
  text,
  ...(png === undefined ? {} : { png }),
})
export const asks = (text: string, more: Omit<Ask, 'turns'> = {}): Ask => ({ turns: [user(text)], ...more })
export const ok = (detail: string): CheckFinding => ({ verdict: 'ok', detail })
export const ignored = (detail: string): CheckFinding => ({ verdict: 'ignored', detail })
export const broken = (detail: string): CheckFinding => ({ verdict: 'broken', detail })
export const unknown = (detail: string): CheckFinding => ({ verdict: 'unknown', detail })

/** Returns the beginning of a text, in quotes. */
export function quotedStart(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return `"${line.length <= 40 ? line : `${line.slice(0, 39)}…`}"`
}

export function judgeText({ text, usage }: Reply): CheckFinding {
  if (text.trim() === '') return broken('the response has no text')
  const tokens =
    usage === undefined ? 'no usage reported' : `${usage.input} tokens in, ${usage.output} tokens out`
  return ok(`${quotedStart(text)}, ${tokens}`)
}

export function judgeUsage({ usage }: Reply): CheckFinding {
  if (usage === undefined) return ignored('the response reports no usage')
  return usage.input > 0 && usage.output > 0
    ? ok(`${usage.input} tokens in, ${usage.output} tokens out`)
    : ignored(`the usage is ${usage.input} tokens in, ${usage.output} tokens out`)
}

export function judgeStream({ text, pieces }: Reply): CheckFinding {
  if (text.trim() === '') return broken('the stream has no text')
  return ok(
    pieces === 1
      ? 'a complete stream, with its text in one piece'
      : `a complete stream, with ${pieces} pieces of text`,
  )
}

/** `least` is the number of calls that the request asks for. */
export function judgeCalls({ calls, text }: Reply, least: 1 | 2): CheckFinding {
  if (calls.length === 0) {
    return least === 1
      ? ignored(`no call, although one is required; the text is ${quotedStart(text)}`)
      : unknown('the model called no tools')
  }
  const wrong = calls.map(faultOf).find((fault) => fault !== undefined)
  if (wrong !== undefined) return broken(wrong)
  if (new Set(calls.map(({ id }) => id)).size < calls.length) return broken('two calls have the same id')
  const shown = calls.map(({ name, input }) => `${name}(${input.length > 30 ? '…' : input})`).join(', ')
  return calls.length < least ? unknown(`the model made only one call: ${shown}`) : ok(shown)
}

function faultOf({ id, name, input }: Call): string | undefined {
  if (id === '') return `the call of ${name} has no id`
  if (!/^get_(weather|time)$/.test(name))
    return `the response calls ${quotedStart(name)}, which is not a tool in the request`
  const value = parsed(input)
  if (value === undefined) return `the arguments of ${name} are not valid JSON: ${quotedStart(input)}`
  return toolInput.safeParse(value).success
    ? undefined
    : `the arguments of ${name} have no city: ${quotedStart(input)}`
}

/** Judges the response to the results of tools. */
export function judgeSecondTurn({ calls, text }: Reply): CheckFinding {
  if (text.trim() !== '') return ok(quotedStart(text))
  return calls.length > 0
    ? ok('the model calls more tools')
    : broken('the response has neither text nor calls')
}

export function judgeStructured({ text }: Reply): CheckFinding {
  const value = parsed(text)
  if (value === undefined) return ignored(`the text is not valid JSON: ${quotedStart(text)}`)
  return structured.safeParse(value).success
    ? ok(quotedStart(text))
    : ignored(`the JSON does not match the schema: ${quotedStart(text)}`)
}

export function judgeJson({ text }: Reply): CheckFinding {
  return parsed(text) === undefined
    ? ignored(`the text is not valid JSON: ${quotedStart(text)}`)
    : ok(quotedStart(text))
}

export function judgeReasoning({ thought, usage }: Reply): CheckFinding {
  if (usage !== undefined && usage.reasoning > 0) return ok(`${usage.reasoning} tokens of reasoning`)
  return thought === ''
    ? unknown('accepted; the response shows no reasoning')
    : ok(`the response shows ${quotedStart(thought)}`)
}

export function judgeSystem(reply: Reply, known: Known): CheckFinding {
  if (/banana/i.test(reply.text)) return ok('the model follows the instruction')
  return (
    counted(reply, known, 'simple request', 5) ??
    ignored(
      `the model does not follow the instruction, and no input tokens were counted for it: ${quotedStart(reply.text)}`,
    )
  )
}

export function judgeImage(reply: Reply, known: Known): CheckFinding {
  if (/\bred\b/i.test(reply.text)) return ok('the model recognises the colour')
  return (
    counted(reply, known, 'simple request', 40) ??
    ignored(
      `the model does not recognise the image, and no input tokens were counted for it: ${quotedStart(reply.text)}`,
    )
  )
}

export function judgeDocument(reply: Reply, known: Known): CheckFinding {
  if (/pelican/i.test(reply.text)) return ok('the model reads the document')
  return (
    counted(reply, known, 'simple request', 20) ??
    ignored(
      `the model does not read the document, and no input tokens were counted for it: ${quotedStart(reply.text)}`,
    )
  )
}

/** Checks whether the input has more tokens than that of another request. Undefined if not. */
function counted({ usage }: Reply, known: Known, other: string, atLeast: number): CheckFinding | undefined {
  const before = known.get(other)?.usage?.input
  if (before === undefined || usage === undefined)
    return unknown('accepted; cannot be checked, because the response reports no usage')
  const more = usage.input - before
  return more >= atLeast ? ok(`the input has ${more} more tokens`) : undefined
}

export const stopAsk = asks('Repeat exactly these words: alpha beta gamma', { stop: 'beta' })

export function judgeStop({ text }: Reply): CheckFinding {
  if (/beta/.test(text)) return ignored(`the text continues after the stop sequence: ${quotedStart(text)}`)
  return /alpha/.test(text)
    ? ok('the text ends before the stop sequence')
    : unknown(`accepted; the text is ${quotedStart(text)}`)
}

/** For a limit of 16 tokens. Some engines count a few more. */
export function judgeBound({ usage, isCut }: Reply): CheckFinding {
  if (usage !== undefined && usage.output > 20)
    return ignored(`16 tokens were allowed, but the response has ${usage.output}`)
  return isCut ? ok('the response ends at the limit') : unknown('the response is shorter than the limit')
}

export const longAsk = asks('Count from one to one hundred in words.')

export function judgeNoCall({ calls }: Reply): CheckFinding {
  return calls.length === 0 ? ok('no call') : ignored(`the response calls ${calls[0]?.name}`)
}

export function judgeOneCall({ calls }: Reply): CheckFinding {
  if (calls.length > 1) return ignored(`${calls.length} calls, although only one is allowed`)
  return calls.length === 1 ? ok('one call') : unknown('accepted; the model called no tools')
}

/** A request that makes a model call two tools if it is allowed to. */
export const bothTools: Ask = asks(
  'What is the weather in Paris, and what time is it there? Call get_weather and get_time, both at once.',
  { tools: ['get_weather', 'get_time'] },
)

export const colour: Ask = { turns: [user('Which colour is this? Reply with one word.', redPng)] }
export const document: Ask = {
  turns: [
    { role: 'user', text: 'What is the secret word in this document? Reply with one word.', pdf: wordPdf },
  ],
}
export const system: Ask = asks(hello, {
  system: 'Begin every answer with the word BANANA, in capital letters.',
})

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
