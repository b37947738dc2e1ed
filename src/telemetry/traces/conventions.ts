// The names of attributes. Those that are not `tollgate.*` are from OpenTelemetry's conventions, and a test
// compares them with its package: https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/ and
// https://opentelemetry.io/docs/specs/semconv/http/http-spans/

export const named = {
  method: 'http.request.method',
  route: 'http.route',
  path: 'url.path',
  scheme: 'url.scheme',
  status: 'http.response.status_code',
  resends: 'http.request.resend_count',
  errorType: 'error.type',
  serverAddress: 'server.address',
  serverPort: 'server.port',
  operation: 'gen_ai.operation.name',
  provider: 'gen_ai.provider.name',
  requestModel: 'gen_ai.request.model',
  stream: 'gen_ai.request.stream',
  outputType: 'gen_ai.output.type',
  responseModel: 'gen_ai.response.model',
  finishReasons: 'gen_ai.response.finish_reasons',
  firstChunkSeconds: 'gen_ai.response.time_to_first_chunk',
} as const

/** Attributes of a call. Tools that read traces add up the attributes with these names. */
export const usageOfCall = {
  input: 'gen_ai.usage.input_tokens',
  output: 'gen_ai.usage.output_tokens',
  cacheRead: 'gen_ai.usage.cache_read.input_tokens',
  cacheWrite: 'gen_ai.usage.cache_creation.input_tokens',
  reasoning: 'gen_ai.usage.reasoning.output_tokens',
} as const

/**
 * Attributes of a request or a run, whose calls have the same tokens. The names are ours, so that the tokens
 * are not counted twice.
 */
export const usageOfRow = {
  input: 'tollgate.usage.input_tokens',
  output: 'tollgate.usage.output_tokens',
  cacheRead: 'tollgate.usage.cache_read.input_tokens',
  cacheWrite: 'tollgate.usage.cache_creation.input_tokens',
  reasoning: 'tollgate.usage.reasoning.output_tokens',
} as const satisfies Record<keyof typeof usageOfCall, string>

export const own = {
  requestId: 'tollgate.request.id',
  tenantId: 'tollgate.tenant.id',
  keyId: 'tollgate.key.id',
  groupId: 'tollgate.group.id',
  channel: 'tollgate.channel',
  outcome: 'tollgate.outcome',
  streamEnd: 'tollgate.stream_end',
  attempts: 'tollgate.attempts',
  costUsd: 'tollgate.cost.usd',
  protocol: 'tollgate.protocol',
  upstreamProtocol: 'tollgate.upstream.protocol',
  upstreamRequestId: 'tollgate.upstream.request_id',
  reason: 'tollgate.attempt.reason',
  run: 'tollgate.job.run',
  body: 'tollgate.request.body',
} as const
