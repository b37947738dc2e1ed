import { ApiError, api, ask } from '../../api/client.ts'

const atOnce = 4

/**
 * Makes the models that are new, without a price: a channel can only offer models that there are. `tell` gets
 * the number of those that are there.
 */
export async function makeModels(ids: readonly string[], tell: (done: number) => void): Promise<void> {
  const rest = ids.values()
  let done = 0
  const makeOnes = async () => {
    for (const id of rest) {
      await ask(api.POST('/admin/v1/models', { body: { id } })).catch((error: unknown) => {
        // There is one of this name already.
        if (!(error instanceof ApiError) || error.status !== 409) throw error
      })
      tell(++done)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, makeOnes))
}
