import { Tabs } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useMay } from '../../api/session.ts'
import type { Texts } from '../../console-search.ts'
import { Page } from '../../parts/page.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Waiting } from '../../shell/waiting.tsx'
import { ArchivePart } from './archive-part.tsx'
import { EnvironmentPart } from './environment-part.tsx'
import { ErasuresPart } from './erasures-part.tsx'
import { ExportPart } from './export-part.tsx'
import { PricesPart } from './prices-part.tsx'
import classes from './settings.module.css'
import { settingsQuery } from './settings-query.ts'

const tabs = [
  { tab: 'settings', title: 'Settings' },
  { tab: 'file', title: 'gateway.yaml' },
  { tab: 'archive', title: 'Archive' },
  { tab: 'erasures', title: 'Erasures' },
] as const

/** What this gateway is set to, and what it keeps for how long. */
export function SettingsPage() {
  const search: Texts = useSearch({ strict: false })
  const navigate = useNavigate()
  const may = useMay()
  const tab = tabs.find((one) => one.tab === search.tab)?.tab ?? 'settings'
  return (
    <Page title="Settings">
      <Tabs
        value={tab}
        onChange={(next) =>
          void navigate({ to: '/console/settings', search: next === 'settings' ? {} : { tab: next ?? '' } })
        }
        keepMounted={false}
      >
        <Tabs.List mb={16}>
          {tabs
            .filter((one) => (one.tab !== 'archive' && one.tab !== 'erasures') || may('data'))
            .map((one) => (
              <Tabs.Tab key={one.tab} value={one.tab}>
                {one.title}
              </Tabs.Tab>
            ))}
        </Tabs.List>
        <Tabs.Panel value="settings">
          <All />
        </Tabs.Panel>
        <Tabs.Panel value="file">
          <ExportPart />
        </Tabs.Panel>
        <Tabs.Panel value="archive">
          <ArchivePart />
        </Tabs.Panel>
        <Tabs.Panel value="erasures">
          <ErasuresPart />
        </Tabs.Panel>
      </Tabs>
    </Page>
  )
}

function All() {
  const settings = useQuery(settingsQuery)
  if (settings.data === undefined) {
    return settings.error === null ? (
      <Waiting />
    ) : (
      <Problem error={settings.error} onAgain={() => void settings.refetch()} />
    )
  }
  return (
    <div className={classes.parts}>
      {settings.error === null ? null : (
        <Problem error={settings.error} onAgain={() => void settings.refetch()} />
      )}
      <PricesPart settings={settings.data} />
      <EnvironmentPart environment={settings.data.data.environment} />
    </div>
  )
}
