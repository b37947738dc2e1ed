import type OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type FourUpstreams,
  forgettingKey,
  startFourUpstreams,
  translatedModels,
} from '../support/four-upstreams.ts'
import { until } from '../support/until.ts'

/** An agent whose tools the Responses vendor defines, over the strict vendors of the other formats. */

let bed: FourUpstreams
beforeAll(async () => {
  bed = await startFourUpstreams()
})
afterAll(() => bed?.close())

type Answer = OpenAI.Responses.Response

const tools: OpenAI.Responses.Tool[] = [
  { type: 'shell', environment: { type: 'local' } },
  { type: 'local_shell' },
  { type: 'apply_patch' },
  { type: 'computer' },
]
const question = 'Use shell, local_shell and apply_patch.'
const types = ['shell_call', 'local_shell_call', 'apply_patch_call']
/** One pixel. */
const screenshot =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

/** What an agent sends back for each of its calls. */
function results({ output }: Pick<Answer, 'output'>): OpenAI.Responses.ResponseInputItem[] {
  return output.flatMap((item): OpenAI.Responses.ResponseInputItem[] => {
    switch (item.type) {
      case 'shell_call': {
        const { call_id, action } = item
        const outcome = { type: 'exit' as const, exit_code: 3 }
        const output = action.commands.map((command) => ({ stdout: `ran ${command}`, stderr: '', outcome }))
        const { max_output_length } = action
        return [{ type: 'shell_call_output', call_id, output, max_output_length }]
      }
      case 'local_shell_call':
        return [{ type: 'local_shell_call_output', id: item.call_id, output: item.action.command.join(' ') }]
      case 'apply_patch_call':
        return [
          {
            type: 'apply_patch_call_output',
            call_id: item.call_id,
            status: 'failed',
            output: `no ${item.operation.path}`,
          },
        ]
      case 'computer_call': {
        const { call_id, actions = [] } = item
        expect(actions).toMatchObject([{ type: 'click', button: 'left' }])
        const output = { type: 'computer_screenshot' as const, image_url: screenshot }
        return [{ type: 'computer_call_output', call_id, output }]
      }
      default:
        return []
    }
  })
}

const typesOf = ({ output }: Answer) => output.map(({ type }) => type).filter((type) => /_call$/.test(type))

describe.each(translatedModels)('an agent over %s', (model) => {
  test.each([
    ['whole', false],
    ['streamed', true],
  ])('runs each tool and goes on, by id and with the items themselves, %s', async (_how, isStreamed) => {
    const client = bed.openai()
    const ask = async (params: OpenAI.Responses.ResponseCreateParamsNonStreaming) =>
      isStreamed
        ? await client.responses.stream({ ...params, stream: true }).finalResponse()
        : await client.responses.create(params)

    const first = await ask({ model, tools, input: question })
    expect(typesOf(first)).toEqual(types)
    const byId = await ask({ model, tools, input: results(first), previous_response_id: first.id })
    const input = [
      { role: 'user' as const, content: question },
      ...(first.output as OpenAI.Responses.ResponseInputItem[]),
      ...results(first),
    ]
    const byItems = await ask({ model, tools, input, store: false })
    for (const { output_text } of [byId, byItems]) {
      expect(output_text).toContain('The tools answered:')
      for (const words of ['[exit code 3]', 'demo', 'no demo']) expect(output_text).toContain(words)
    }
    expect((await client.responses.retrieve(first.id)).output).toEqual(first.output)
    const { data } = await client.responses.inputItems.list(byId.id, { order: 'asc' })
    expect(data.map(({ type }) => type)).toEqual(
      expect.arrayContaining([...types, 'shell_call_output', 'apply_patch_call_output']),
    )
  })

  test('shows the screen to the model', async () => {
    const client = bed.openai()
    const first = await client.responses.create({ model, tools, input: 'Use computer.' })
    expect(typesOf(first)).toEqual(['computer_call'])
    const params = { model, tools, input: results(first), previous_response_id: first.id }
    const { output_text } = await client.responses.create(params)
    expect(output_text).toContain('[image: image/png')
  })

  test('calls the tool that the choice demands', async () => {
    const client = bed.openai()
    const choice = { type: 'apply_patch' as const }
    const answer = await client.responses.create({ model, tools, input: 'Hello.', tool_choice: choice })
    expect(typesOf(answer)).toEqual(['apply_patch_call'])
    expect(answer).toMatchObject({ tool_choice: choice, tools })
  })

  test('gets its calls in the background', async () => {
    const client = bed.openai()
    const { id } = await client.responses.create({ model, tools, input: question, background: true })
    const answer = await until(async () => {
      const answer = await client.responses.retrieve(id)
      return answer.status === 'queued' || answer.status === 'in_progress' ? undefined : answer
    })
    expect(typesOf(answer)).toEqual(types)
    const next = await client.responses.create({
      model,
      tools,
      input: results(answer),
      previous_response_id: id,
    })
    expect(next.output_text).toContain('[exit code 3]')
  })

  test('gets its calls by WebSocket, and goes on there', async () => {
    const { ResponsesWS } = await import('openai/resources/responses/ws')
    const socket = new ResponsesWS(bed.openai(forgettingKey))
    // Without it, the SDK rejects a promise that no one has.
    socket.on('error', () => undefined)
    const ask = (params: object) => {
      const { promise, resolve, reject } = Promise.withResolvers<Answer>()
      const stop = (event: OpenAI.Responses.ResponsesServerEvent) => {
        if (event.type === 'response.completed') resolve(event.response)
        else if (event.type === 'error' || event.type === 'response.failed')
          reject(new Error(JSON.stringify(event)))
      }
      socket.on('event', stop)
      socket.send({ type: 'response.create', model, tools, store: false, ...params } as Parameters<
        typeof socket.send
      >[0])
      return promise.finally(() => socket.off('event', stop))
    }
    try {
      const first = await ask({ input: question })
      expect(typesOf(first)).toEqual(types)
      const second = await ask({ input: results(first), previous_response_id: first.id })
      expect(JSON.stringify(second.output)).toContain('[exit code 3]')
      const lost = { type: 'shell_call_output', call_id: 'call_of_nobody', output: [] }
      await expect(ask({ input: [lost], previous_response_id: second.id })).rejects.toThrow(
        '"code":"tool_call_missing"',
      )
    } finally {
      socket.close()
    }
  })
})
