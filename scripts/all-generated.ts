import { chartRules, prometheusRule } from './gen-alerts.ts';
import { architectureGraph } from './gen-architecture.ts';
import { classesPage } from './gen-classes.ts';
import { commandsPage, readmeCommands } from './gen-commands.ts';
import { configurationPage } from './gen-configuration.ts';
import { chartDashboard, dashboard } from './gen-dashboard.ts';
import { errorsPage } from './gen-errors.ts';
import { findingsPage } from './gen-findings.ts';
import { findingsInTools } from './gen-findings-tools.ts';
import { metricsPage } from './gen-metrics.ts';
import { policySchema } from './gen-policy-schema.ts';
import { slackApp } from './gen-slack-app.ts';
import type { Generated } from './generated.ts';

/** Everything that is made from the code. */
export const ALL_GENERATED: readonly Generated[] = [
  policySchema,
  errorsPage,
  configurationPage,
  metricsPage,
  classesPage,
  commandsPage,
  readmeCommands,
  architectureGraph,
  findingsInTools,
  findingsPage,
  slackApp,
  prometheusRule,
  chartRules,
  dashboard,
  chartDashboard,
];
