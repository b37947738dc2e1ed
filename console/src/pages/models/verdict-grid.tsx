import { Button, Group, Modal, Stack } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api, ask, type Schema } from '../../api/client.ts'
import { useMay } from '../../api/session.ts'
import { day } from '../../format/moments.ts'
import { Moment } from '../../parts/formatted-values.tsx'
import { Section } from '../../parts/page.tsx'
import { Problem } from '../../parts/problem.tsx'
import { State } from '../../parts/state.tsx'
import { fails } from '../../parts/toast.tsx'
import type { Tone } from '../../parts/tone.ts'
import classes from './models.module.css'
import { verdictGrid } from './prices.ts'

const tones: Readonly<Record<string, Tone>> = { yes: 'good', no: 'bad', unknown: 'quiet' }

/** What was proved, feature by channel, with the date; a cell opens its evidence. */
export function VerdictGrid({ model, offers }: { model: string; offers: readonly Schema<'Offer'>[] }) {
  const may = useMay()
  const { columns, rows } = verdictGrid(offers)
  const [shown, setShown] = useState<
    { channel: string; upstream: string; protocol: string; subject: string } | undefined
  >(undefined)
  return (
    <Section
      title="What is proved"
      actions={
        may('probes', 'write') ? (
          <ProbeButtons model={model} channels={offers.map(({ channel }) => channel)} />
        ) : undefined
      }
    >
      <RunningProbes model={model} />
      {rows.length === 0 ? (
        <span className="tg-quiet">
          Nothing yet. A probe asks the channel small things, and a refusal of the upstream proves a no.
        </span>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls is focusable
        <section className={classes.scrolls} tabIndex={0} aria-label="Features by channel and format">
          <table className={classes.table}>
            <thead>
              <tr>
                <th>Feature</th>
                {columns.map((column) => (
                  <th key={column}>{column}</th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map(({ feature, cells }) => (
                <tr key={feature}>
                  <th scope="row">{feature}</th>
                  {columns.map((column) => {
                    const verdict = cells.get(column)
                    const offer = offers.find(({ channel }) => column.startsWith(`${channel}, `))
                    if (verdict === undefined || offer === undefined) return <td key={column}>–</td>
                    return (
                      <td key={column}>
                        <button
                          type="button"
                          className={classes.cell}
                          onClick={() =>
                            setShown({
                              channel: offer.channel,
                              upstream: offer.upstream_model,
                              protocol: verdict.protocol,
                              subject: feature,
                            })
                          }
                        >
                          <State tone={tones[verdict.verdict] ?? 'quiet'}>{verdict.verdict}</State>{' '}
                          <span className="tg-quiet">{day(new Date(verdict.decided_at))}</span>
                        </button>
                      </td>
                    )
                  })}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
      <Modal
        opened={shown !== undefined}
        onClose={() => setShown(undefined)}
        title={shown?.subject}
        size="lg"
      >
        {shown === undefined ? null : (
          <Evidence
            {...shown}
            model={shown.upstream === '*' ? model : shown.upstream}
            onDropped={() => setShown(undefined)}
          />
        )}
      </Modal>
    </Section>
  )
}

function Evidence({
  channel,
  model,
  protocol,
  subject,
  onDropped,
}: {
  channel: string
  model: string
  protocol: string
  subject: string
  onDropped(): void
}) {
  const may = useMay()
  const queries = useQueryClient()
  const verdicts = useQuery({
    queryKey: ['verdicts', channel, model],
    queryFn: ({ signal }) =>
      ask(api.GET('/admin/v1/verdicts', { params: { query: { channel, model, limit: 200 } }, signal })),
  })
  const drop = useMutation({
    mutationFn: (id: string) => ask(api.DELETE('/admin/v1/verdicts/{id}', { params: { path: { id } } })),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['offers'] })
      await queries.invalidateQueries({ queryKey: ['verdicts'] })
      onDropped()
    },
    onError: (error) => fails('Dropping the verdict', error),
  })
  if (verdicts.error !== null) return <Problem error={verdicts.error} />
  const found =
    verdicts.data?.data.filter((one) => one.protocol === protocol && one.subject === subject) ?? []
  return (
    <Stack gap={12}>
      {found.map(({ id, verdict, origin, decided_at, expires_at, evidence, request_ids, in_force }) => (
        <div key={id}>
          <Group gap={12}>
            <State tone={tones[verdict] ?? 'quiet'}>{verdict}</State>
            <span className="tg-quiet">
              by a {origin}, <Moment at={decided_at} />
              {expires_at === null ? '' : ', until '}
              {expires_at === null ? null : <Moment at={expires_at} />}
              {in_force ? '' : ', no longer in force'}
            </span>
          </Group>
          <p className={classes.evidence}>{evidence}</p>
          <Group gap={12}>
            {request_ids.map((request) => (
              <Link key={request} to="/console/log/$id" params={{ id: request }}>
                Its request
              </Link>
            ))}
            {may('catalog', 'write') ? (
              <Button variant="default" loading={drop.isPending} onClick={() => drop.mutate(id)}>
                Drop the verdict
              </Button>
            ) : null}
          </Group>
        </div>
      ))}
      {verdicts.data !== undefined && found.length === 0 ? (
        <span className="tg-quiet">Its evidence is no longer there.</span>
      ) : null}
    </Stack>
  )
}

function ProbeButtons({ model, channels }: { model: string; channels: readonly string[] }) {
  const queries = useQueryClient()
  const probe = useMutation({
    mutationFn: (channel: string) => ask(api.POST('/admin/v1/probes', { body: { channel, model } })),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['probes', model] }),
    onError: (error) => fails('The probe', error),
  })
  return (
    <>
      {[...new Set(channels)].slice(0, 3).map((channel) => (
        <Button
          key={channel}
          variant="default"
          loading={probe.isPending && probe.variables === channel}
          onClick={() => probe.mutate(channel)}
        >
          Probe {channel} now
        </Button>
      ))}
    </>
  )
}

const watchMs = 2_000

/** The newest runs, watched until they end. */
function RunningProbes({ model }: { model: string }) {
  const may = useMay()
  const queries = useQueryClient()
  const runs = useQuery({
    queryKey: ['probes', model],
    enabled: may('probes'),
    queryFn: async ({ signal }) => {
      const page = await ask(api.GET('/admin/v1/probes', { params: { query: { model, limit: 5 } }, signal }))
      if (page.data.every(({ state }) => !isRunning(state)))
        void queries.invalidateQueries({ queryKey: ['offers'] })
      return page.data
    },
    refetchInterval: ({ state }) =>
      state.data?.some((run) => isRunning(run.state)) === true ? watchMs : false,
  })
  const shown = runs.data?.filter(({ state }) => isRunning(state) || state === 'failed') ?? []
  return (
    <>
      {shown.map(({ id, channel, protocol, state, error, created_at }) => (
        <div key={id}>
          <State tone={state === 'failed' ? 'bad' : 'info'}>
            Probe of {channel} in {protocol}: {state}
            {error === null ? '' : `: ${error}`}
          </State>{' '}
          <span className="tg-quiet">
            since <Moment at={created_at} />
          </span>
        </div>
      ))}
    </>
  )
}

function isRunning(state: string): boolean {
  return state === 'queued' || state === 'running'
}
