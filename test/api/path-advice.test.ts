import { expect, test } from 'vitest'
import { adviceOn } from '../../src/api/unknown-path.ts'
import { modelEndpoints } from '../../src/stages/endpoints.ts'

/** A 404 says what to change where a client's base URL is wrong. */

const own = [{ method: 'POST' as const, path: '/v1/messages/count_tokens', summary: '' }]
const advice = (path: string, method = 'POST') => adviceOn([...modelEndpoints, ...own], method, path)

test.each([
  // A base URL without /v1, for SDKs that want it, and with a path of another gateway.
  ['/chat/completions', "use POST /v1/chat/completions. Let the SDK's base URL end in /v1."],
  ['/openai/chat/completions', "Let the SDK's base URL end in /v1 instead of /openai."],
  ['/openai/v1/chat/completions', "use POST /v1/chat/completions. Leave /openai out of the SDK's base URL."],
  ['/v1/v1/chat/completions', "Leave /v1 out of the SDK's base URL."],
  ['/v1/openai/v1/responses', "Leave /v1/openai out of the SDK's base URL."],
  ['/v1/chat/completions/chat/completions', "Leave /chat/completions out of the SDK's base URL."],
  ['/api/v1/embeddings', "Leave /api out of the SDK's base URL."],
  ['/v1/responses/compact/', 'use POST /v1/responses/compact.'],
  // Anthropic's SDK adds /v1 itself.
  ['/v1/v1/messages', "use POST /v1/messages. Leave /v1 out of the SDK's base URL."],
  ['/anthropic/v1/messages', "use POST /v1/messages. Leave /anthropic out of the SDK's base URL."],
  ['/anthropic/v1/messages/count_tokens', "Leave /anthropic out of the SDK's base URL."],
  ['/v1/messages/v1/messages', "Leave /v1/messages out of the SDK's base URL."],
  [
    '/messages',
    "Anthropic's SDK adds /v1/messages to a base URL without a path; for any other, let it end in /v1.",
  ],
  ['/anthropic/messages', 'for any other, let it end in /v1 instead of /anthropic.'],
])('POST %s', (path, says) => {
  expect(advice(path)).toContain(`There is no POST ${path} here; use POST /v1/`)
  expect(advice(path)).toMatch(new RegExp(`${says.replace(/[.?]/g, '\\$&')}$`))
})

test.each(['/v1/audio/speech', '/v1/realtime', '/v1/messages/batches', '/v2'])(
  '%s is not an endpoint',
  (path) => {
    expect(advice(path, 'GET')).toBe(`There is no GET ${path} here. GET /openapi.json lists the paths.`)
  },
)

test.each(['/v1/health', '/healthcheck', '/health/', '/livez', '/ping', '/api/status'])(
  '%s names the paths of health checks',
  (path) =>
    expect(advice(path, 'GET')).toBe(`There is no GET ${path} here; use GET /healthz, or GET /readyz.`),
)
