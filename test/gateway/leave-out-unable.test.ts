import { expect, test } from 'vitest'
import type { Gateway } from '../../src/pipeline/gateway.ts'
import { leaveOutUnable } from '../../src/pipeline/leave-out-unable.ts'
import type { Asked } from '../../src/pipeline/read.ts'
import type { ModelCandidates } from '../../src/routing/targets.ts'

/** A large body whose thread ends without an answer. */
async function looked(clientGone: boolean): Promise<readonly ModelCandidates[]> {
  const gateway = {
    bodyThreads: { run: () => ({ done: Promise.reject(new Error('ended')), abort() {} }) },
  } as unknown as Gateway
  const asked = {
    large: { signedNeeds: ['imageInput'] },
    body: Buffer.from('{}'),
    facts: { stream: false },
    endpoint: { protocol: 'openai-chat' },
    identity: { keyId: 'key', tenantId: 'tenant' },
    snapshot: { soleTenants: new Map() },
    life: { clientGone, slabs: [] },
  } as unknown as Asked
  return await leaveOutUnable(gateway, asked, planned)
}

const planned = [
  {
    candidates: [
      { channel: { id: 'channel' }, traits: { input: ['text'] }, protocol: 'openai-chat', native: true },
    ],
  },
] as unknown as ModelCandidates[]

test('a client that leaves while a thread reads its body is not refused', async () => {
  expect(await looked(true)).toEqual(planned)
})

test('any other end of the thread is an error', async () => {
  await expect(looked(false)).rejects.toThrow('ended')
})
