import { Button, Modal } from '@mantine/core'
import { type UseQueryResult, useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api, ask, type Schema } from '../../api/client.ts'
import { ifMatch, isChangedMeanwhile, type Tagged } from '../../api/tagged.ts'
import { Section } from '../../parts/page.tsx'
import { usePart } from '../../parts/page-parts.tsx'
import { fails } from '../../parts/toast.tsx'
import classes from './channels.module.css'
import { OfferForm } from './offer-form.tsx'
import { WildcardServes } from './wildcard-serves.tsx'

/** The models of a channel, and what each is called there. */
export function ChannelOffers({
  tagged,
  offers: query,
  mayChange,
}: {
  tagged: Tagged<Schema<'Channel'>>
  offers: UseQueryResult<Schema<'OfferList'>>
  mayChange: boolean
}) {
  const channel = tagged.data
  const problem = usePart('its models', query)
  const offers = query.data?.data
  const queries = useQueryClient()
  const [edits, setEdits] = useState<{ offer?: Schema<'Offer'> }>()
  const remove = useMutation({
    mutationFn: (model: string) =>
      ask(
        api.DELETE('/admin/v1/channels/{id}/offers/{model}', {
          params: { path: { id: channel.id, model }, header: ifMatch(tagged.etag) },
        }),
      ),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['channels'] }),
    onError: async (cause) => {
      fails('Removing the model', cause)
      if (isChangedMeanwhile(cause)) await queries.invalidateQueries({ queryKey: ['channels'] })
    },
  })
  return (
    <Section
      title="Models"
      actions={
        mayChange ? (
          <Button variant="default" onClick={() => setEdits({})}>
            Add a model
          </Button>
        ) : undefined
      }
    >
      {problem}
      {offers?.length === 0 ? (
        <span className="tg-quiet">It offers no model: no request comes here.</span>
      ) : null}
      <ul className={classes.list}>
        {offers?.map((offer) => {
          const { model } = offer
          return (
            <li key={model}>
              {model === '*' ? (
                <span>* (any other name)</span>
              ) : (
                <Link to="/console/models/$id" params={{ id: model }}>
                  {model}
                </Link>
              )}
              <span className={classes.grows}>
                <OfferWords of={offer} all={offers} />
              </span>
              {mayChange ? (
                <span className={classes.acts}>
                  {model === '*' ? null : (
                    <Button
                      variant="subtle"
                      aria-label={`Change ${model}`}
                      onClick={() => setEdits({ offer })}
                    >
                      Change
                    </Button>
                  )}
                  <Button
                    variant="subtle"
                    color="red"
                    aria-label={`Remove ${model}`}
                    loading={remove.isPending && remove.variables === model}
                    onClick={() => remove.mutate(model)}
                  >
                    Remove
                  </Button>
                </span>
              ) : null}
            </li>
          )
        })}
      </ul>
      <Modal
        opened={edits !== undefined}
        onClose={() => setEdits(undefined)}
        title={edits?.offer === undefined ? 'Add a model' : `Change ${edits.offer.model}`}
      >
        <OfferForm of={tagged} offer={edits?.offer} onDone={() => setEdits(undefined)} />
      </Modal>
    </Section>
  )
}

/** What the model is called there, and what a wildcard serves. */
function OfferWords({ of, all }: { of: Schema<'Offer'>; all: readonly Schema<'Offer'>[] }) {
  const { channel, model, upstream_model, state } = of
  return (
    <>
      <span className="tg-quiet">
        {upstream_model === '*' || upstream_model === model
          ? 'under the same name'
          : `there: ${upstream_model}`}
        {state === 'enabled' ? '' : `, ${state}`}
      </span>
      {model === '*' ? <WildcardServes channel={channel} offered={all.map((one) => one.model)} /> : null}
    </>
  )
}
