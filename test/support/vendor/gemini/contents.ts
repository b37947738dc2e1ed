import { isRecord, type Json, recordsOf, textOf } from '../../../../src/canonical/json.ts'
import { expectFilled, expectObject, expectOneOf, expectText, isAbsent, refuse } from '../check.ts'
import { mediaWords } from '../question.ts'
import { openThought } from '../seal.ts'

/** Clients send this instead of a signature with calls that another model made. */
const foreignCallSignature = 'skip_thought_signature_validator'

/** Checks the turns of a conversation. Returns the number of signatures that the vendor made. Throws Refusal. */
export function checkContents(contents: readonly Json[], model: string): number {
  let signed = 0
  let calls: Json[] = []
  for (const [at, content] of contents.entries()) {
    const path = `contents[${at}]`
    const role = expectOneOf(content.role, `${path}.role`, ['user', 'model']) ?? 'user'
    const parts = expectFilled(content.parts, `${path}.parts`)
    for (const [place, part] of parts.entries()) signed += checkPart(part, `${path}.parts[${place}]`, model)
    checkResponses(parts, calls)
    calls = objectsAt(parts, 'functionCall')
    if (calls.length > 0 && (role !== 'model' || at === 0)) {
      refuse(
        'Please ensure that function call turn comes immediately after a user turn or after a function response turn.',
      )
    }
  }
  if (calls.length > 0) refuseCount()
  // Gemini 2 signs no calls: https://github.com/octos-org/octos/pull/1897, read 2026-11-22
  if (!/^gemini-[12]\./.test(model)) checkSignatures(contents)
  return signed
}

/** The tool results of a turn that has no text; media beside them belong to them. */
export function resultsOf(content: Json | undefined): string[] {
  const parts = recordsOf(content?.parts)
  if (parts.some((part) => textOf(part.text) !== undefined)) return []
  const results = objectsAt(parts, 'functionResponse').map(({ response, parts: media }) => {
    const { output, error, ...rest } = isRecord(response) ? response : {}
    const outcome = error === undefined ? (output ?? rest) : `error: ${wordOf(error)}`
    return [wordOf(outcome), wordsOf(media)].filter((words) => words !== '').join(' ')
  })
  const beside = wordsOf(parts)
  return beside === '' || results.length === 0 ? results : [...results, beside]
}

/** The text of parts, with a description of each medium. */
export function wordsOf(parts: unknown): string {
  const words = recordsOf(parts).flatMap((part) => {
    const text = textOf(part.text)
    if (text !== undefined) return part.thought === true ? [] : [text]
    if (isRecord(part.inlineData)) {
      const { mimeType, data } = part.inlineData
      return [mediaWords(kindOf(mimeType), { mediaType: mimeType, data })]
    }
    if (isRecord(part.fileData)) {
      return [mediaWords(kindOf(part.fileData.mimeType), { url: part.fileData.fileUri })]
    }
    return []
  })
  return words.join(' ')
}

function kindOf(mimeType: unknown): string {
  const [kind = ''] = String(mimeType).split('/')
  return kind === 'image' || kind === 'audio' ? kind : 'document'
}

function wordOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function objectsAt(parts: readonly Json[], name: string): Json[] {
  return parts.flatMap((part) => {
    const value = part[name]
    return isRecord(value) ? [value] : []
  })
}

const dataNames = ['text', 'inlineData', 'fileData', 'functionCall', 'functionResponse']
const partNames = [...dataNames, 'thought', 'thoughtSignature', 'videoMetadata', 'mediaResolution']

/** Returns 1 for a part that the vendor signed, else 0. */
function checkPart(part: Json, path: string, model: string): number {
  const unknown = Object.keys(part).find((name) => !partNames.includes(name))
  if (unknown !== undefined) {
    refuse(`Invalid JSON payload received. Unknown name "${unknown}" at '${path}': Cannot find field.`)
  }
  const data = dataNames.filter((name) => !isAbsent(part[name]))
  if (data.length !== 1) refuse(`${path}.data: required oneof field 'data' must have one initialized field`)
  if (!isAbsent(part.functionCall)) {
    const call = expectObject(part.functionCall, `${path}.function_call`)
    expectText(call.name, `${path}.function_call.name`)
    if (!isAbsent(call.args)) expectObject(call.args, `${path}.function_call.args`)
  }
  if (!isAbsent(part.functionResponse)) {
    const response = expectObject(part.functionResponse, `${path}.function_response`)
    expectText(response.name, `${path}.function_response.name`)
    expectObject(response.response, `${path}.function_response.response`)
    for (const media of recordsOf(response.parts))
      expectObject(media.inlineData, `${path}.function_response.parts`)
  }
  if (!isAbsent(part.inlineData)) {
    const { mimeType, data } = expectObject(part.inlineData, `${path}.inline_data`)
    expectText(mimeType, `${path}.inline_data.mime_type`)
    expectText(data, `${path}.inline_data.data`)
  }
  const { thoughtSignature: signature } = part
  if (isAbsent(signature) || signature === foreignCallSignature) return 0
  if (openThought('gemini', model, expectText(signature, `${path}.thought_signature`)) === undefined) {
    refuse('Thought signature is not valid.')
  }
  return 1
}

/** The turn after calls has one response for each call, in the same order. */
function checkResponses(parts: readonly Json[], calls: readonly Json[]): void {
  const responses = objectsAt(parts, 'functionResponse')
  if (responses.length !== calls.length) refuseCount()
  for (const [at, call] of calls.entries()) {
    const response = responses[at]
    const isOther = response?.name !== call.name || (!isAbsent(call.id) && call.id !== response?.id)
    if (isOther)
      refuse(`Function response ${at} does not belong to the function call "${String(call.name)}".`)
  }
}

function refuseCount(): never {
  refuse(
    'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.',
  )
}

/** After the user's last text, the first call of each model turn needs a signature. */
function checkSignatures(contents: readonly Json[]): void {
  const begun = contents.findLastIndex(
    ({ role, parts }) => role !== 'model' && recordsOf(parts).some((part) => textOf(part.text) !== undefined),
  )
  for (const [at, content] of contents.entries()) {
    if (at < begun || content.role !== 'model') continue
    const first = recordsOf(content.parts).find((part) => isRecord(part.functionCall))
    if (first === undefined || textOf(first.thoughtSignature) !== undefined) continue
    const name = isRecord(first.functionCall) ? first.functionCall.name : ''
    refuse(
      `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call \`default_api:${name}\`, position ${at + 1}.`,
    )
  }
}
