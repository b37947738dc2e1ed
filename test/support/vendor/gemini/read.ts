import { isRecord, type Json, recordsOf, textOf } from '../../../../src/canonical/json.ts'
import {
  expectFilled,
  expectInteger,
  expectNumber,
  expectObject,
  expectObjects,
  expectOneOf,
  expectText,
  isAbsent,
  refuse,
  refuseUnknown,
} from '../check.ts'
import type { Call } from '../dialect.ts'
import { type Question, type Tool, type ToolChoice, tokensOf } from '../question.ts'
import { checkContents, resultsOf, wordsOf } from './contents.ts'
import { checkGemini } from './model.ts'

/**
 * Reads a `generateContent` body by the vendor's rules. Throws Refusal.
 *
 * https://ai.google.dev/api/generate-content, read 2026-11-21
 */
export function readGemini({ body, model, stream }: Call): Question {
  refuseNames(body, members, '')
  const contents = expectFilled(body.contents, 'contents')
  if (!isAbsent(body.systemInstruction)) {
    expectFilled(expectObject(body.systemInstruction, 'systemInstruction').parts, 'systemInstruction.parts')
  }
  const config = isAbsent(body.generationConfig)
    ? {}
    : expectObject(body.generationConfig, 'generationConfig')
  checkConfig(config)
  checkGemini(body, model ?? '')
  const tools = readTools(body.tools)
  const choice = readChoice(body.toolConfig, tools)
  if (choice.mode === 'required' && config.responseMimeType === 'application/json') {
    refuse("Forced function calling (ANY mode) with a response mime type: 'application/json' is unsupported")
  }
  const thinking = isRecord(config.thinkingConfig) ? config.thinkingConfig : {}
  const thoughtsKnown = checkContents(contents, model ?? '')
  const user = contents.findLast(({ role, parts }) => role !== 'model' && wordsOf(parts) !== '')
  return {
    model: model ?? 'vendor',
    stream: stream === true,
    choices: expectInteger(config.candidateCount, 'generationConfig.candidateCount', 1, 8) ?? 1,
    text: wordsOf(user?.parts),
    results: resultsOf(contents.at(-1)),
    turns: contents.length,
    tools,
    choice,
    isParallel: true,
    format: readFormat(config),
    tokensMax:
      expectInteger(config.maxOutputTokens, 'generationConfig.maxOutputTokens', 1) ??
      Number.POSITIVE_INFINITY,
    stop: Array.isArray(config.stopSequences) ? config.stopSequences.map(String) : [],
    thinks: thinking.includeThoughts === true,
    thoughtsKnown,
    promptTokens: tokensOf(contents, body.systemInstruction, body.tools),
  }
}

const members = [
  ...[
    'contents',
    'systemInstruction',
    'tools',
    'toolConfig',
    'generationConfig',
    'safetySettings',
    'cachedContent',
  ],
  ...['labels', 'serviceTier', 'store'],
]

const configMembers = [
  ...['temperature', 'topP', 'topK', 'maxOutputTokens', 'stopSequences', 'candidateCount', 'seed'],
  ...['presencePenalty', 'frequencyPenalty', 'responseMimeType', 'responseSchema', 'responseJsonSchema'],
  ...[
    'responseLogprobs',
    'logprobs',
    'thinkingConfig',
    'responseModalities',
    'speechConfig',
    'mediaResolution',
  ],
]

function refuseNames(object: Json, names: readonly string[], path: string): void {
  const place = path === '' ? '' : ` at '${path}'`
  refuseUnknown(
    object,
    names,
    (name) => `Invalid JSON payload received. Unknown name "${name}"${place}: Cannot find field.`,
  )
}

function checkConfig(config: Json): void {
  refuseNames(config, configMembers, 'generation_config')
  expectNumber(config.temperature, 'generationConfig.temperature', 0, 2)
  expectNumber(config.topP, 'generationConfig.topP', 0, 1)
  expectInteger(config.topK, 'generationConfig.topK', 1)
  if (Array.isArray(config.stopSequences) && config.stopSequences.length > 5) {
    refuse('The number of stop sequences is more than the maximum of 5.')
  }
  if (config.responseLogprobs === true) refuse('Logprobs is not enabled for this model')
  if (isAbsent(config.thinkingConfig)) return
  const thinking = expectObject(config.thinkingConfig, 'generationConfig.thinkingConfig')
  refuseNames(
    thinking,
    ['includeThoughts', 'thinkingBudget', 'thinkingLevel'],
    'generation_config.thinking_config',
  )
  expectInteger(thinking.thinkingBudget, 'generationConfig.thinkingConfig.thinkingBudget', -1, 32_768)
  const levels = ['MINIMAL', 'LOW', 'MEDIUM', 'HIGH']
  const level = expectOneOf(thinking.thinkingLevel, 'generationConfig.thinkingConfig.thinkingLevel', levels)
  if (level !== undefined && !isAbsent(thinking.thinkingBudget)) {
    refuse('You can only set only one of thinking budget and thinking level.')
  }
}

function readTools(value: unknown): Tool[] {
  if (isAbsent(value)) return []
  const declared = expectObjects(value, 'tools').flatMap(({ functionDeclarations }) =>
    recordsOf(functionDeclarations),
  )
  const names = new Set<string>()
  return declared.map((declaration, at) => {
    const path = `tools[0].function_declarations[${at}]`
    const known = [
      'name',
      'description',
      'parameters',
      'parametersJsonSchema',
      'response',
      'responseJsonSchema',
      'behavior',
    ]
    refuseNames(declaration, known, path)
    const name = expectText(declaration.name, `${path}.name`)
    if (!/^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/.test(name)) {
      refuse(
        `${path}.name: Invalid function name. Must start with a letter or an underscore. Must be alphanumeric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 64.`,
      )
    }
    if (names.has(name)) refuse(`Duplicate function declaration found: ${name}`)
    names.add(name)
    return { name, kind: 'function', parameters: declaration.parametersJsonSchema ?? declaration.parameters }
  })
}

function readChoice(config: unknown, tools: readonly Tool[]): ToolChoice {
  const calling =
    isRecord(config) && isRecord(config.functionCallingConfig) ? config.functionCallingConfig : {}
  const path = 'toolConfig.functionCallingConfig'
  const mode = expectOneOf(calling.mode, `${path}.mode`, ['AUTO', 'ANY', 'NONE', 'VALIDATED']) ?? 'AUTO'
  const only = Array.isArray(calling.allowedFunctionNames)
    ? calling.allowedFunctionNames.map(String)
    : undefined
  if (only !== undefined && mode !== 'ANY' && mode !== 'VALIDATED') {
    refuse('Allowed function names should only be set when function calling mode is ANY or VALIDATED.')
  }
  const unknown = only?.find((name) => !tools.some((tool) => tool.name === name))
  if (unknown !== undefined) refuse(`Function calling config allows "${unknown}", which is not declared.`)
  if (mode === 'ANY' && tools.length === 0)
    refuse('Function calling config is set without function_declarations.')
  const ours = mode === 'ANY' ? 'required' : mode === 'NONE' ? 'none' : 'auto'
  return { mode: ours, only, isForced: mode === 'ANY' && only?.length === 1 }
}

function readFormat(config: Json): Question['format'] {
  const schema = config.responseJsonSchema ?? config.responseSchema
  const type = textOf(config.responseMimeType)
  if (!isAbsent(schema)) {
    if (type !== 'application/json')
      refuse("A response schema wants the response mime type 'application/json'.")
    return { type: 'schema', schema }
  }
  return { type: type === 'application/json' ? 'object' : 'text' }
}
