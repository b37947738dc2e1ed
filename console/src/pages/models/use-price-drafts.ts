import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useCallback, useMemo, useState } from 'react'
import { done } from '../../parts/toast.tsx'
import { changesOf, draftOf, faultsOf, type PriceChange, type PriceDraft, priceOf } from './price-draft.ts'
import { type PricedModel, refusedParts, savePrices } from './prices-query.ts'

export interface ChangedPrice {
  model: PricedModel
  draft: PriceDraft
  changes: readonly PriceChange[]
}

/** Prices of many models while they are written, until one save. `start`: what a model begins with. */
export function usePriceDrafts(
  models: readonly PricedModel[],
  start: (model: PricedModel) => PriceDraft,
  onSaved: () => void,
) {
  const client = useQueryClient()
  const [written, setWritten] = useState<ReadonlyMap<string, PriceDraft>>(new Map())
  const [showsFaults, setShowsFaults] = useState(false)
  const drafts = useMemo(
    () => new Map(models.map((model) => [model.id, written.get(model.id) ?? start(model)])),
    [models, written, start],
  )
  const changed = useMemo(
    () =>
      models.flatMap((model): ChangedPrice[] => {
        const draft = drafts.get(model.id)
        if (draft === undefined || model.managed_by === 'file') return []
        const changes = changesOf(model.price, priceOf(draft))
        return changes.length === 0 && Object.keys(faultsOf(draft)).length === 0
          ? []
          : [{ model, draft, changes }]
      }),
    [models, drafts],
  )
  const own = useMemo(
    () =>
      new Map(
        changed.flatMap(({ model, draft }) => {
          const faults = faultsOf(draft)
          return Object.keys(faults).length === 0 ? [] : [[model.id, faults] as const]
        }),
      ),
    [changed],
  )
  const save = useMutation({
    mutationFn: (wanted: readonly ChangedPrice[]) => savePrices(client, wanted),
    onSuccess: (count) => {
      setWritten(new Map())
      setShowsFaults(false)
      done(`${count === 1 ? '1 new price is' : `${count} new prices are`} in force`)
      onSaved()
    },
    // What was changed meanwhile is shown beside what was written.
    onError: () => void client.invalidateQueries({ queryKey: ['models'] }),
  })
  const refused = useMemo(() => refusedParts(save.error, save.variables ?? []), [save.error, save.variables])
  const { reset } = save
  const change = useCallback(
    (id: string, draft: PriceDraft) => {
      setWritten((before) => new Map(before).set(id, draft))
      reset()
    },
    [reset],
  )
  return {
    drafts,
    changed,
    faults: showsFaults && own.size > 0 ? own : refused,
    save,
    change,
    /** Writes the library's price wherever the model has none and nothing is written. */
    fill: () => {
      const free = models.filter(
        ({ id, managed_by, suggestion }) =>
          managed_by === 'admin' && suggestion !== null && drafts.get(id)?.kind === 'none',
      )
      setWritten((before) => {
        const after = new Map(before)
        for (const { id, suggestion } of free) after.set(id, draftOf(suggestion?.price))
        return after
      })
      reset()
    },
    drop: () => {
      setWritten(new Map())
      setShowsFaults(false)
      reset()
    },
    /** Whether everything that is written can be saved; if not, the faults are shown from now on. */
    check: () => {
      setShowsFaults(true)
      return own.size === 0
    },
  }
}
