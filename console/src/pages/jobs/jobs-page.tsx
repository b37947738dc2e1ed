import { Button, SegmentedControl, Tabs } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { type ReactNode, useMemo } from 'react'
import type { Schema } from '../../api/client.ts'
import { useModelNames } from '../../api/own-models.ts'
import { useSession } from '../../api/session.ts'
import { useTenantName } from '../../api/tenant-names.ts'
import type { Texts } from '../../console-search.ts'
import { Code } from '../../parts/code.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { ChoiceFilter, FilterBar, type Filters, useFilters } from '../../parts/filters.tsx'
import { ListGrid } from '../../parts/list-grid.tsx'
import { useOpenRow } from '../../parts/open-row.ts'
import { Page } from '../../parts/page.tsx'
import { WithSheet } from '../../parts/sheet.tsx'
import { gatewayUrl } from '../../site.ts'
import { TenantFilter } from '../access/tenant-filter.tsx'
import { answerColumns, imageColumns } from './job-columns.tsx'
import { JobPictures } from './job-pictures.tsx'
import { JobQueues } from './job-queues.tsx'
import { AnswerSheet, ImageSheet } from './job-sheets.tsx'
import { filterNames, sortOf, useAnswerJobs, useImageJobs } from './jobs-query.ts'

const statuses = ['queued', 'running', 'succeeded', 'failed', 'cancelled'] as const

/** Requests that are made in the background: images, and answers. */
export function JobsPage() {
  const search: Texts = useSearch({ strict: false })
  const navigate = useNavigate()
  const filters = useFilters(filterNames)
  const kind = search.kind === 'answers' ? 'answers' : 'images'
  return (
    <Page
      wide
      title="Jobs"
      lead={<JobQueues kind={kind} />}
      actions={
        <>
          <JobFilters filters={filters} />
          {kind === 'images' ? (
            <SegmentedControl
              size="xs"
              aria-label="How jobs are shown"
              data={[
                { value: '', label: 'Pictures' },
                { value: 'table', label: 'Table' },
              ]}
              value={filters.get('view')}
              onChange={(view) => filters.set({ view })}
            />
          ) : null}
        </>
      }
    >
      <Tabs
        value={kind}
        onChange={(next) =>
          void navigate({ to: '/console/jobs', search: next === 'answers' ? { kind: 'answers' } : {} })
        }
      >
        <Tabs.List>
          <Tabs.Tab value="images">Images</Tabs.Tab>
          <Tabs.Tab value="answers">Answers in the background</Tabs.Tab>
        </Tabs.List>
      </Tabs>
      {kind === 'images' ? (
        <Images search={search} filters={filters} />
      ) : (
        <Answers search={search} filters={filters} />
      )}
    </Page>
  )
}

function JobFilters({ filters }: { filters: Filters }) {
  const { names } = useModelNames()
  return (
    <FilterBar filters={filters}>
      <ChoiceFilter
        filters={filters}
        name="status"
        label="Status"
        options={[
          { value: '', label: 'Any status' },
          ...statuses.map((status) => ({ value: status, label: status })),
        ]}
      />
      <TenantFilter filters={filters} />
      {names.length > 0 ? (
        <ChoiceFilter
          filters={filters}
          name="model"
          label="Model"
          options={[
            { value: '', label: 'Every model' },
            ...names.map((model) => ({ value: model, label: model })),
          ]}
        />
      ) : null}
    </FilterBar>
  )
}

interface ListProps {
  search: Texts
  filters: Filters
}

/** What both lists do with rows. */
function useRows({ search, filters }: ListProps) {
  const { role } = useSession()
  return {
    ...useOpenRow('/console/jobs', search),
    seesTenants: role !== 'member',
    /** `F` on a cell. */
    keep(column: string, job: { status: string; model: string; tenant_id: string }, keeps: boolean) {
      if (!keeps) return
      if (column === 'status') filters.set({ status: job.status })
      if (column === 'model') filters.set({ model: job.model })
      if (column === 'tenant') filters.set({ tenant_id: job.tenant_id })
    },
  }
}

function NoMatch({ filters }: { filters: Filters }) {
  return (
    <EmptyState
      title="No job matches"
      action={
        <Button onClick={() => filters.set({ status: '', tenant_id: '', model: '' })}>Show all jobs</Button>
      }
    >
      {filters.get('model') === '' ? undefined : 'Jobs of one model are searched in the last 30 days.'}
    </EmptyState>
  )
}

function Images(props: ListProps) {
  const { search, filters } = props
  const { id, open, close, keep, seesTenants } = useRows(props)
  const tenantName = useTenantName()
  const list = useImageJobs(search)
  const columns = useMemo(() => imageColumns(seesTenants ? tenantName : undefined), [seesTenants, tenantName])
  const empty: ReactNode = filters.isAny ? (
    <NoMatch filters={filters} />
  ) : (
    <EmptyState title="No image job yet">
      <p>A request for images becomes a job. Its pictures will be here. Make one with a key:</p>
      <Code
        what="the command"
        text={`curl ${gatewayUrl}/v1/images/generations -H "authorization: Bearer $TOLLGATE_KEY" \\
  -H 'content-type: application/json' -d '{"model": "demo-image", "prompt": "a harbour at night"}'`}
      />
    </EmptyState>
  )
  return (
    <WithSheet sheet={id === undefined ? null : <ImageSheet key={id} id={id} onClose={close} />}>
      {search.view === 'table' ? (
        <ListGrid<Schema<'AdminImageJob'>>
          label="Image jobs"
          things="jobs"
          list={list}
          columns={columns}
          idOf={idOf}
          openId={id}
          onOpen={open}
          onFilter={keep}
          sort={sortOf(search)}
          onSort={(sort) => filters.set({ sort })}
          toneOf={toneOf}
          empty={empty}
        />
      ) : (
        <JobPictures list={list} openId={id} onOpen={open} empty={empty} />
      )}
    </WithSheet>
  )
}

function Answers(props: ListProps) {
  const { search, filters } = props
  const { id, open, close, keep, seesTenants } = useRows(props)
  const tenantName = useTenantName()
  const list = useAnswerJobs(search)
  const columns = useMemo(
    () => answerColumns(seesTenants ? tenantName : undefined),
    [seesTenants, tenantName],
  )
  return (
    <WithSheet sheet={id === undefined ? null : <AnswerSheet key={id} id={id} onClose={close} />}>
      <ListGrid<Schema<'AdminBackgroundAnswer'>>
        label="Answers in the background"
        things="jobs"
        list={list}
        columns={columns}
        idOf={idOf}
        openId={id}
        onOpen={open}
        onFilter={keep}
        sort={sortOf(search)}
        onSort={(sort) => filters.set({ sort })}
        toneOf={toneOf}
        empty={
          filters.isAny ? (
            <NoMatch filters={filters} />
          ) : (
            <EmptyState title="No answer in the background yet">
              <p>
                A request with <span className="tg-mono">"background": true</span> becomes a job, where its
                key keeps answers. Make one with such a key:
              </p>
              <Code
                what="the command"
                text={`curl ${gatewayUrl}/v1/responses -H "authorization: Bearer $TOLLGATE_KEY" \\
  -H 'content-type: application/json' -d '{"model": "demo-chat", "input": "Hello", "background": true}'`}
              />
            </EmptyState>
          )
        }
      />
    </WithSheet>
  )
}

function toneOf({ status }: { status: string }) {
  return status === 'failed' ? ('bad' as const) : undefined
}

function idOf({ id }: { id: string }): string {
  return id
}
