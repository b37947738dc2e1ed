import type { ChatRequest, Tool, ToolChoice } from '../canonical/chat.ts'
import { canForceTools, type Traits } from '../canonical/traits.ts'
import { type Notes, refused } from './notes.ts'
import { rewriteSchema } from './schema-subset.ts'

/**
 * Refuses tools that the model cannot call, and removes settings that it does not support from the others.
 */
export function fitTools(request: ChatRequest, traits: Traits, notes: Notes): Partial<ChatRequest> {
  const { tools, toolChoice } = request
  const own = tools.find((tool) => tool.type !== 'hosted')
  if (own === undefined) return {}
  if (traits.tools === false) {
    if (toolChoice?.type !== 'none') throw refused(own.path, 'the model does not support tools')
    notes.add(
      'mapped',
      notes.pathOf('tools'),
      'left out: the model does not support tools, and no calls are allowed',
    )
    return { tools: [], toolChoice: undefined, parallelToolCalls: undefined }
  }
  if (canForceTools(traits) === false && isForced(toolChoice)) {
    throw refused(notes.pathOf('toolChoice'), 'the model does not support forced tool calls')
  }
  const fitted = tools.map((tool) => fitStrict(tool, traits, notes))
  return fitted.some((tool, at) => tool !== tools[at]) ? { tools: fitted } : {}
}

/** Whether the tool choice requires a call. */
export function isForced(choice: ToolChoice | undefined): boolean {
  if (choice === undefined) return false
  return (
    choice.type === 'required' ||
    choice.type === 'tool' ||
    choice.type === 'web-search' ||
    (choice.type === 'allowed' && choice.mode === 'required')
  )
}

function fitStrict(tool: Tool, traits: Traits, notes: Notes): Tool {
  if (tool.type !== 'function' || tool.strict === undefined) return tool
  const obstacle = obstacleOf(tool.strict, tool.parameters, traits)
  if (obstacle === undefined) return tool
  if (tool.strict) notes.add('dropped', `${tool.path}.strict`, obstacle)
  return { ...tool, strict: undefined }
}

/** Why the model would refuse a strict tool; undefined if it would not. */
function obstacleOf(
  strict: boolean,
  parameters: Extract<Tool, { type: 'function' }>['parameters'],
  { strictTools, schema }: Traits,
): string | undefined {
  if (strictTools === false)
    return 'the model does not support strict tools: its calls may not match the schema'
  if (!strict || parameters === undefined || schema !== 'openai-strict') return undefined
  // A rewritten schema would change the tool's input: null in place of members that the model can leave out.
  const isTaken = rewriteSchema(parameters, schema).removed.length === 0
  return isTaken
    ? undefined
    : 'the model does not support this schema for strict tools: its calls may not match it'
}
