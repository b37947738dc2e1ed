import { expect, test } from 'vitest'
import { adviceOn } from '../../src/api/unknown-path.ts'
import { modelEndpoints } from '../../src/pipeline/endpoints.ts'

/** A 404 says what to change where a client's base URL is wrong. */

const own = [{ method: 'POST' as const, path: '/v1/messages/count_tokens', summary: '' }]
const advice = (path: string, method = 'POST') => adviceOn([...modelEndpoints, ...own], method, path)

test.each([
  // A base URL without /v1, for SDKs that want it, and with a path of another gateway.
  ['/chat/completions', "Use POST /v1/chat/completions. The SDK's base URL must end in /v1."],
  ['/openai/chat/completions', "The SDK's base URL must end in /v1 instead of /openai."],
  ['/openai/v1/chat/completions', "Use POST /v1/chat/completions. Remove /openai from the SDK's base URL."],
  ['/v1/v1/chat/completions', "Remove /v1 from the SDK's base URL."],
  ['/v1/openai/v1/responses', "Remove /v1/openai from the SDK's base URL."],
  ['/v1/chat/completions/chat/completions', "Remove /chat/completions from the SDK's base URL."],
  ['/api/v1/embeddings', "Remove /api from the SDK's base URL."],
  ['/v1/responses/compact/', 'Use POST /v1/responses/compact.'],
  // Anthropic's SDK adds /v1 itself.
  ['/v1/v1/messages', "Use POST /v1/messages. Remove /v1 from the SDK's base URL."],
  ['/anthropic/v1/messages', "Use POST /v1/messages. Remove /anthropic from the SDK's base URL."],
  ['/anthropic/v1/messages/count_tokens', "Remove /anthropic from the SDK's base URL."],
  ['/v1/messages/v1/messages', "Remove /v1/messages from the SDK's base URL."],
  [
    '/messages',
    "Anthropic's SDK adds /v1/messages to the base URL, which must not have a path. For any other SDK, the base URL must end in /v1.",
  ],
  ['/anthropic/messages', 'For any other SDK, the base URL must end in /v1 instead of /anthropic.'],
])('POST %s', (path, says) => {
  expect(advice(path)).toContain(`There is no POST ${path}. Use POST /v1/`)
  expect(advice(path)).toMatch(new RegExp(`${says.replace(/[.?]/g, '\\$&')}$`))
})

test.each(['/v1/audio/transcriptions', '/v1/realtime', '/v1/messages/batches', '/v2'])(
  '%s is not an endpoint',
  (path) => {
    expect(advice(path, 'GET')).toBe(
      `There is no GET ${path}. See GET /openapi.json for the available paths.`,
    )
  },
)

test.each(['/v1/health', '/healthcheck', '/health/', '/livez', '/ping', '/api/status'])(
  '%s names the paths of health checks',
  (path) => expect(advice(path, 'GET')).toBe(`There is no GET ${path}. Use GET /healthz or GET /readyz.`),
)
