import type { FieldRow, FieldTable, MessageName } from './schema.ts';

/**
 * Every field of every message of `lf.a2a.v1` (v1.0.1), by its JSON name, in the proto's order. Readers, query strings and the binary form
 * are made from it; `test/protocol/fields.test.ts` compares it with the protocol's own table.
 */
export const fields: FieldTable = {
  SendMessageConfiguration: {
    acceptedOutputModes: ['accepted_output_modes', 1, 'string', 'repeated'],
    taskPushNotificationConfig: ['task_push_notification_config', 2, 'TaskPushNotificationConfig', 'singular'],
    historyLength: ['history_length', 3, 'int32', 'optional'],
    returnImmediately: ['return_immediately', 4, 'bool', 'singular'],
  },
  Task: {
    id: ['id', 1, 'string', 'required'],
    contextId: ['context_id', 2, 'string', 'singular'],
    status: ['status', 3, 'TaskStatus', 'required'],
    artifacts: ['artifacts', 4, 'Artifact', 'repeated'],
    history: ['history', 5, 'Message', 'repeated'],
    metadata: ['metadata', 6, 'Struct', 'singular'],
  },
  TaskStatus: {
    state: ['state', 1, 'TaskState', 'required'],
    message: ['message', 2, 'Message', 'singular'],
    timestamp: ['timestamp', 3, 'Timestamp', 'singular'],
  },
  Part: {
    text: ['text', 1, 'string', 'oneof:content'],
    raw: ['raw', 2, 'bytes', 'oneof:content'],
    url: ['url', 3, 'string', 'oneof:content'],
    data: ['data', 4, 'Value', 'oneof:content'],
    metadata: ['metadata', 5, 'Struct', 'singular'],
    filename: ['filename', 6, 'string', 'singular'],
    mediaType: ['media_type', 7, 'string', 'singular'],
  },
  Message: {
    messageId: ['message_id', 1, 'string', 'required'],
    contextId: ['context_id', 2, 'string', 'singular'],
    taskId: ['task_id', 3, 'string', 'singular'],
    role: ['role', 4, 'Role', 'required'],
    parts: ['parts', 5, 'Part', 'repeated required'],
    metadata: ['metadata', 6, 'Struct', 'singular'],
    extensions: ['extensions', 7, 'string', 'repeated'],
    referenceTaskIds: ['reference_task_ids', 8, 'string', 'repeated'],
  },
  Artifact: {
    artifactId: ['artifact_id', 1, 'string', 'required'],
    name: ['name', 2, 'string', 'singular'],
    description: ['description', 3, 'string', 'singular'],
    parts: ['parts', 4, 'Part', 'repeated required'],
    metadata: ['metadata', 5, 'Struct', 'singular'],
    extensions: ['extensions', 6, 'string', 'repeated'],
  },
  TaskStatusUpdateEvent: {
    taskId: ['task_id', 1, 'string', 'required'],
    contextId: ['context_id', 2, 'string', 'required'],
    status: ['status', 3, 'TaskStatus', 'required'],
    metadata: ['metadata', 4, 'Struct', 'singular'],
  },
  TaskArtifactUpdateEvent: {
    taskId: ['task_id', 1, 'string', 'required'],
    contextId: ['context_id', 2, 'string', 'required'],
    artifact: ['artifact', 3, 'Artifact', 'required'],
    append: ['append', 4, 'bool', 'singular'],
    lastChunk: ['last_chunk', 5, 'bool', 'singular'],
    metadata: ['metadata', 6, 'Struct', 'singular'],
  },
  AuthenticationInfo: {
    scheme: ['scheme', 1, 'string', 'required'],
    credentials: ['credentials', 2, 'string', 'singular'],
  },
  AgentInterface: {
    url: ['url', 1, 'string', 'required'],
    protocolBinding: ['protocol_binding', 2, 'string', 'required'],
    tenant: ['tenant', 3, 'string', 'singular'],
    protocolVersion: ['protocol_version', 4, 'string', 'required'],
  },
  AgentCard: {
    name: ['name', 1, 'string', 'required'],
    description: ['description', 2, 'string', 'required'],
    supportedInterfaces: ['supported_interfaces', 3, 'AgentInterface', 'repeated required'],
    provider: ['provider', 4, 'AgentProvider', 'singular'],
    version: ['version', 5, 'string', 'required'],
    documentationUrl: ['documentation_url', 6, 'string', 'optional'],
    capabilities: ['capabilities', 7, 'AgentCapabilities', 'required'],
    securitySchemes: ['security_schemes', 8, 'SecurityScheme', 'map'],
    securityRequirements: ['security_requirements', 9, 'SecurityRequirement', 'repeated'],
    defaultInputModes: ['default_input_modes', 10, 'string', 'repeated required'],
    defaultOutputModes: ['default_output_modes', 11, 'string', 'repeated required'],
    skills: ['skills', 12, 'AgentSkill', 'repeated required'],
    signatures: ['signatures', 13, 'AgentCardSignature', 'repeated'],
    iconUrl: ['icon_url', 14, 'string', 'optional'],
  },
  AgentProvider: {
    url: ['url', 1, 'string', 'required'],
    organization: ['organization', 2, 'string', 'required'],
  },
  AgentCapabilities: {
    streaming: ['streaming', 1, 'bool', 'optional'],
    pushNotifications: ['push_notifications', 2, 'bool', 'optional'],
    extensions: ['extensions', 3, 'AgentExtension', 'repeated'],
    extendedAgentCard: ['extended_agent_card', 4, 'bool', 'optional'],
  },
  AgentExtension: {
    uri: ['uri', 1, 'string', 'singular'],
    description: ['description', 2, 'string', 'singular'],
    required: ['required', 3, 'bool', 'singular'],
    params: ['params', 4, 'Struct', 'singular'],
  },
  AgentSkill: {
    id: ['id', 1, 'string', 'required'],
    name: ['name', 2, 'string', 'required'],
    description: ['description', 3, 'string', 'required'],
    tags: ['tags', 4, 'string', 'repeated required'],
    examples: ['examples', 5, 'string', 'repeated'],
    inputModes: ['input_modes', 6, 'string', 'repeated'],
    outputModes: ['output_modes', 7, 'string', 'repeated'],
    securityRequirements: ['security_requirements', 8, 'SecurityRequirement', 'repeated'],
  },
  AgentCardSignature: {
    protected: ['protected', 1, 'string', 'required'],
    signature: ['signature', 2, 'string', 'required'],
    header: ['header', 3, 'Struct', 'singular'],
  },
  TaskPushNotificationConfig: {
    tenant: ['tenant', 1, 'string', 'singular'],
    id: ['id', 2, 'string', 'singular'],
    taskId: ['task_id', 3, 'string', 'singular'],
    url: ['url', 4, 'string', 'required'],
    token: ['token', 5, 'string', 'singular'],
    authentication: ['authentication', 6, 'AuthenticationInfo', 'singular'],
  },
  StringList: {
    list: ['list', 1, 'string', 'repeated'],
  },
  SecurityRequirement: {
    schemes: ['schemes', 1, 'StringList', 'map'],
  },
  SecurityScheme: {
    apiKeySecurityScheme: ['api_key_security_scheme', 1, 'APIKeySecurityScheme', 'oneof:scheme'],
    httpAuthSecurityScheme: ['http_auth_security_scheme', 2, 'HTTPAuthSecurityScheme', 'oneof:scheme'],
    oauth2SecurityScheme: ['oauth2_security_scheme', 3, 'OAuth2SecurityScheme', 'oneof:scheme'],
    openIdConnectSecurityScheme: ['open_id_connect_security_scheme', 4, 'OpenIdConnectSecurityScheme', 'oneof:scheme'],
    mtlsSecurityScheme: ['mtls_security_scheme', 5, 'MutualTlsSecurityScheme', 'oneof:scheme'],
  },
  APIKeySecurityScheme: {
    description: ['description', 1, 'string', 'singular'],
    location: ['location', 2, 'string', 'required'],
    name: ['name', 3, 'string', 'required'],
  },
  HTTPAuthSecurityScheme: {
    description: ['description', 1, 'string', 'singular'],
    scheme: ['scheme', 2, 'string', 'required'],
    bearerFormat: ['bearer_format', 3, 'string', 'singular'],
  },
  OAuth2SecurityScheme: {
    description: ['description', 1, 'string', 'singular'],
    flows: ['flows', 2, 'OAuthFlows', 'required'],
    oauth2MetadataUrl: ['oauth2_metadata_url', 3, 'string', 'singular'],
  },
  OpenIdConnectSecurityScheme: {
    description: ['description', 1, 'string', 'singular'],
    openIdConnectUrl: ['open_id_connect_url', 2, 'string', 'required'],
  },
  MutualTlsSecurityScheme: {
    description: ['description', 1, 'string', 'singular'],
  },
  OAuthFlows: {
    authorizationCode: ['authorization_code', 1, 'AuthorizationCodeOAuthFlow', 'oneof:flow'],
    clientCredentials: ['client_credentials', 2, 'ClientCredentialsOAuthFlow', 'oneof:flow'],
    implicit: ['implicit', 3, 'ImplicitOAuthFlow', 'oneof:flow'],
    password: ['password', 4, 'PasswordOAuthFlow', 'oneof:flow'],
    deviceCode: ['device_code', 5, 'DeviceCodeOAuthFlow', 'oneof:flow'],
  },
  AuthorizationCodeOAuthFlow: {
    authorizationUrl: ['authorization_url', 1, 'string', 'required'],
    tokenUrl: ['token_url', 2, 'string', 'required'],
    refreshUrl: ['refresh_url', 3, 'string', 'singular'],
    scopes: ['scopes', 4, 'string', 'map required'],
    pkceRequired: ['pkce_required', 5, 'bool', 'singular'],
  },
  ClientCredentialsOAuthFlow: {
    tokenUrl: ['token_url', 1, 'string', 'required'],
    refreshUrl: ['refresh_url', 2, 'string', 'singular'],
    scopes: ['scopes', 3, 'string', 'map required'],
  },
  ImplicitOAuthFlow: {
    authorizationUrl: ['authorization_url', 1, 'string', 'singular'],
    refreshUrl: ['refresh_url', 2, 'string', 'singular'],
    scopes: ['scopes', 3, 'string', 'map'],
  },
  PasswordOAuthFlow: {
    tokenUrl: ['token_url', 1, 'string', 'singular'],
    refreshUrl: ['refresh_url', 2, 'string', 'singular'],
    scopes: ['scopes', 3, 'string', 'map'],
  },
  DeviceCodeOAuthFlow: {
    deviceAuthorizationUrl: ['device_authorization_url', 1, 'string', 'required'],
    tokenUrl: ['token_url', 2, 'string', 'required'],
    refreshUrl: ['refresh_url', 3, 'string', 'singular'],
    scopes: ['scopes', 4, 'string', 'map required'],
  },
  SendMessageRequest: {
    tenant: ['tenant', 1, 'string', 'singular'],
    message: ['message', 2, 'Message', 'required'],
    configuration: ['configuration', 3, 'SendMessageConfiguration', 'singular'],
    metadata: ['metadata', 4, 'Struct', 'singular'],
  },
  GetTaskRequest: {
    tenant: ['tenant', 1, 'string', 'singular'],
    id: ['id', 2, 'string', 'required'],
    historyLength: ['history_length', 3, 'int32', 'optional'],
  },
  ListTasksRequest: {
    tenant: ['tenant', 1, 'string', 'singular'],
    contextId: ['context_id', 2, 'string', 'singular'],
    status: ['status', 3, 'TaskState', 'singular'],
    pageSize: ['page_size', 4, 'int32', 'optional'],
    pageToken: ['page_token', 5, 'string', 'singular'],
    historyLength: ['history_length', 6, 'int32', 'optional'],
    statusTimestampAfter: ['status_timestamp_after', 7, 'Timestamp', 'singular'],
    includeArtifacts: ['include_artifacts', 8, 'bool', 'optional'],
  },
  ListTasksResponse: {
    tasks: ['tasks', 1, 'Task', 'repeated required'],
    nextPageToken: ['next_page_token', 2, 'string', 'required'],
    pageSize: ['page_size', 3, 'int32', 'required'],
    totalSize: ['total_size', 4, 'int32', 'required'],
  },
  CancelTaskRequest: {
    tenant: ['tenant', 1, 'string', 'singular'],
    id: ['id', 2, 'string', 'required'],
    metadata: ['metadata', 3, 'Struct', 'singular'],
  },
  GetTaskPushNotificationConfigRequest: {
    tenant: ['tenant', 1, 'string', 'singular'],
    taskId: ['task_id', 2, 'string', 'required'],
    id: ['id', 3, 'string', 'required'],
  },
  DeleteTaskPushNotificationConfigRequest: {
    tenant: ['tenant', 1, 'string', 'singular'],
    taskId: ['task_id', 2, 'string', 'required'],
    id: ['id', 3, 'string', 'required'],
  },
  SubscribeToTaskRequest: {
    tenant: ['tenant', 1, 'string', 'singular'],
    id: ['id', 2, 'string', 'required'],
  },
  ListTaskPushNotificationConfigsRequest: {
    tenant: ['tenant', 4, 'string', 'singular'],
    taskId: ['task_id', 1, 'string', 'required'],
    pageSize: ['page_size', 2, 'int32', 'singular'],
    pageToken: ['page_token', 3, 'string', 'singular'],
  },
  GetExtendedAgentCardRequest: {
    tenant: ['tenant', 1, 'string', 'singular'],
  },
  SendMessageResponse: {
    task: ['task', 1, 'Task', 'oneof:payload'],
    message: ['message', 2, 'Message', 'oneof:payload'],
  },
  StreamResponse: {
    task: ['task', 1, 'Task', 'oneof:payload'],
    message: ['message', 2, 'Message', 'oneof:payload'],
    statusUpdate: ['status_update', 3, 'TaskStatusUpdateEvent', 'oneof:payload'],
    artifactUpdate: ['artifact_update', 4, 'TaskArtifactUpdateEvent', 'oneof:payload'],
  },
  ListTaskPushNotificationConfigsResponse: {
    configs: ['configs', 1, 'TaskPushNotificationConfig', 'repeated'],
    nextPageToken: ['next_page_token', 2, 'string', 'singular'],
  },
};

/** The rows of a message in the table's order. */
export function rowsOf(message: MessageName): readonly (readonly [jsonName: string, row: FieldRow])[] {
  return Object.entries(fields[message]);
}
