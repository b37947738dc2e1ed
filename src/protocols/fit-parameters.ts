import type { ChatRequest } from '../canonical/chat.ts'
import { type OptionalParameter, optionalParameters, type Traits } from '../canonical/traits.ts'
import { keepsOneCall, keptOneCall, keptStop, stopsToKeep } from './kept-options.ts'
import { type Notes, refused } from './notes.ts'

/** Removes parameters that the model does not support, and limits the others to its bounds. */
export function fitParameters(request: ChatRequest, traits: Traits, notes: Notes): Partial<ChatRequest> {
  const changes = leaveOut(request, traits, notes)
  return { ...changes, ...fitBounds({ ...request, ...changes }, traits, notes) }
}

function leaveOut(request: ChatRequest, traits: Traits, notes: Notes): Partial<ChatRequest> {
  const { takes } = traits
  const changes: Partial<ChatRequest> = {}
  if (takes === undefined) return changes
  for (const field of optionalParameters) {
    // Log probabilities are refused or translated as a whole, and some options are set by us.
    if (takes[field] !== false || field === 'logprobs' || isOurs(field)) continue
    const value = request[field]
    if (value === undefined) continue
    changes[field] = undefined
    if (field === 'parallelToolCalls' && value === false) noteOneCall(request, traits, notes)
    else if (isDefault(field, value)) {
      notes.add(
        'mapped',
        notes.pathOf(field),
        'left out: the model does not support it, and the value is the default',
      )
    } else notes.dropField(field, 'the model does not support it')
  }
  return changes
}

function isOurs(field: OptionalParameter): field is 'streamOptions' | 'include' {
  return field === 'streamOptions' || field === 'include'
}

function noteOneCall(request: ChatRequest, traits: Traits, notes: Notes): void {
  const path = notes.pathOf('parallelToolCalls')
  if (keepsOneCall(request, traits))
    notes.add('emulated', path, `the model does not support it: ${keptOneCall}`)
  else notes.add('mapped', path, 'the model makes one call at a time anyway')
}

/** Whether a parameter has the value that the model uses by default. */
function isDefault(field: OptionalParameter, value: unknown): boolean {
  switch (field) {
    case 'temperature':
    case 'topP':
      return value === 1
    case 'frequencyPenalty':
    case 'presencePenalty':
      return value === 0
    case 'logitBias':
    case 'metadata':
      return typeof value === 'object' && value !== null && Object.keys(value).length === 0
    case 'store':
      return value === false
    case 'parallelToolCalls':
      return value === true
    case 'serviceTier':
      return value === 'auto' || value === 'default'
    case 'topK':
    case 'seed':
    case 'logprobs':
    case 'verbosity':
    case 'userId':
    case 'cacheKey':
    case 'streamOptions':
    case 'include':
      return false
  }
}

function fitBounds(request: ChatRequest, traits: Traits, notes: Notes): Partial<ChatRequest> {
  return {
    ...fitTemperature(request, traits, notes),
    ...fitStop(request, traits, notes),
    ...fitOutputTokens(request, traits, notes),
  }
}

function fitTemperature(
  { temperature, topP }: ChatRequest,
  { temperatureMax, temperatureWithTopP }: Traits,
  notes: Notes,
): Partial<ChatRequest> {
  if (temperature === undefined) return {}
  const changes: Partial<ChatRequest> = {}
  if (temperatureMax !== undefined && temperature > temperatureMax) {
    notes.add('clamped', notes.pathOf('temperature'), `the model allows at most ${temperatureMax}`)
    changes.temperature = temperatureMax
  }
  if (topP !== undefined && temperatureWithTopP === false) {
    if (topP === 1) notes.add('mapped', notes.pathOf('topP'), 'left out: the value is the default')
    else notes.dropField('topP', 'the model accepts either temperature or top_p, not both')
    changes.topP = undefined
  }
  return changes
}

function fitStop({ stop }: ChatRequest, { stopMax }: Traits, notes: Notes): Partial<ChatRequest> {
  if (stopMax === undefined || stop.length <= stopMax) return {}
  if (stopMax > 0) {
    throw refused(
      notes.pathOf('stop'),
      `the model supports at most ${stopMax} stop sequences, got ${stop.length}`,
    )
  }
  if (stopsToKeep({ stop }).length === 0) notes.dropField('stop', 'the model does not support stop sequences')
  else notes.add('emulated', notes.pathOf('stop'), `the model does not support stop sequences: ${keptStop}`)
  return { stop: [] }
}

function fitOutputTokens(request: ChatRequest, traits: Traits, notes: Notes): Partial<ChatRequest> {
  const { maxOutputTokens: most } = traits
  const asked = request.maxOutputTokens
  if (most === undefined || asked === undefined || asked <= most) return {}
  notes.add('clamped', notes.pathOf('maxOutputTokens'), `the model supports at most ${most} output tokens`)
  return { maxOutputTokens: most }
}
