import { optionsToKeep } from '../kept-options.ts'
import type { Protocol } from '../protocol.ts'
import { decodeResponse, decodeStream } from './decode-answer.ts'
import { encodeRequest } from './encode-request.ts'
import { decodeError } from './errors.ts'

/**
 * Gemini's `generateContent`, for upstreams only. The vendor's base URL is
 * `https://generativelanguage.googleapis.com/v1beta`.
 *
 * https://ai.google.dev/api/generate-content, read 2026-11-21
 */
export const gemini: Protocol = {
  name: 'gemini',
  upstream: {
    path,
    headers: {},
    encodeRequest,
    // The format has no way to express this.
    keeps: (request, traits) => optionsToKeep(request, { ...traits, takes: { parallelToolCalls: false } }),
    decodeResponse,
    decodeStream,
    decodeError,
  },
}

/** A model with a slash in its name, such as `tunedModels/x`, is a separate resource. */
function path({ model, stream }: { model: string; stream: boolean }): string {
  const resource = model.includes('/') ? model : `models/${model}`
  const escaped = resource.split('/').map(encodeURIComponent).join('/')
  return `/${escaped}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`
}
