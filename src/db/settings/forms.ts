import { channelForm, settingsOfChannels } from './channel-settings.ts'
import { connectionSettings } from './connection-settings.ts'
import { groupForm, settingsOfGroups } from './group-settings.ts'
import { keyForm, settingsOfKeys } from './key-settings.ts'
import { modelForm, settingsOfModels } from './model-settings.ts'
import { settingsOfTenants, tenantForm } from './tenant-settings.ts'

/**
 * For the console, which reads this when it is built: the names of a resource's settings in the API, and the
 * sections of its form. What is not a setting of the table, such as the name, the console adds itself.
 */
export const forms = {
  key: { names: ['name', 'group', ...Object.keys(settingsOfKeys)], sections: keyForm },
  group: { names: ['name', ...Object.keys(settingsOfGroups)], sections: groupForm },
  channel: {
    names: [
      ...['name', 'vendor', 'protocols', 'models', 'traits'],
      ...Object.keys(settingsOfChannels),
      ...Object.keys(connectionSettings),
    ],
    sections: channelForm,
  },
  model: { names: [...Object.keys(settingsOfModels), 'traits'], sections: modelForm },
  tenant: { names: ['name', ...Object.keys(settingsOfTenants)], sections: tenantForm },
}
