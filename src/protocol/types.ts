/**
 * The words of A2A v1.0 as they stand on the wire: the JSON is the type. A required field is required, absent means absent
 * (JSON-01, JSON-14, JSON-17). `test/protocol/` compares every message with the protocol's own table of fields.
 */

/** Any JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
/** A JSON object (`google.protobuf.Struct`). */
export type Struct = { readonly [key: string]: Json };

/** Where a task can stand. UNSPECIFIED is never produced and left out here (STATE-01). */
export type TaskState =
  | 'TASK_STATE_SUBMITTED'
  | 'TASK_STATE_WORKING'
  | 'TASK_STATE_COMPLETED'
  | 'TASK_STATE_FAILED'
  | 'TASK_STATE_CANCELED'
  | 'TASK_STATE_INPUT_REQUIRED'
  | 'TASK_STATE_REJECTED'
  | 'TASK_STATE_AUTH_REQUIRED';

/** Who speaks. */
export type Role = 'ROLE_USER' | 'ROLE_AGENT';

/** The message `SendMessageConfiguration` of `lf.a2a.v1`. */
export interface SendMessageConfiguration {
  readonly acceptedOutputModes?: readonly string[];
  readonly taskPushNotificationConfig?: TaskPushNotificationConfig;
  readonly historyLength?: number;
  readonly returnImmediately?: boolean;
}

/** A task: what `fold` makes of a log. `id` and `status.state` are always there (STATE-07). */
export interface Task {
  readonly id: string;
  readonly contextId?: string;
  readonly status: TaskStatus;
  readonly artifacts?: readonly Artifact[];
  readonly history?: readonly Message[];
  readonly metadata?: Struct;
}

/** Where a task stands. */
export interface TaskStatus {
  readonly state: TaskState;
  readonly message?: Message;
  readonly timestamp?: string;
}

/** What each part may carry beside its content. */
export interface PartDetails {
  readonly metadata?: Struct;
  readonly filename?: string;
  readonly mediaType?: string;
}

/** The message `Part` of `lf.a2a.v1`. */
export type Part = PartDetails &
  ({ readonly text: string } | { readonly raw: string } | { readonly url: string } | { readonly data: Json });

/** One message of a user or an agent (JSON-21). */
export interface Message {
  readonly messageId: string;
  readonly contextId?: string;
  readonly taskId?: string;
  readonly role: Role;
  readonly parts: readonly Part[];
  readonly metadata?: Struct;
  readonly extensions?: readonly string[];
  readonly referenceTaskIds?: readonly string[];
}

/** An output of a task; its id is unique within the task (ART-01). */
export interface Artifact {
  readonly artifactId: string;
  readonly name?: string;
  readonly description?: string;
  readonly parts: readonly Part[];
  readonly metadata?: Struct;
  readonly extensions?: readonly string[];
}

/** A new status, as it travels on a stream. */
export interface TaskStatusUpdateEvent {
  readonly taskId: string;
  readonly contextId: string;
  readonly status: TaskStatus;
  readonly metadata?: Struct;
}

/** An artifact or a piece of one, as it travels on a stream. */
export interface TaskArtifactUpdateEvent {
  readonly taskId: string;
  readonly contextId: string;
  readonly artifact: Artifact;
  readonly append?: boolean;
  readonly lastChunk?: boolean;
  readonly metadata?: Struct;
}

/** The message `AuthenticationInfo` of `lf.a2a.v1`. */
export interface AuthenticationInfo {
  readonly scheme: string;
  readonly credentials?: string;
}

/** The message `AgentInterface` of `lf.a2a.v1`. */
export interface AgentInterface {
  readonly url: string;
  readonly protocolBinding: string;
  readonly tenant?: string;
  readonly protocolVersion: string;
}

/** What an agent says of itself (CARD-04). */
export interface AgentCard {
  readonly name: string;
  readonly description: string;
  readonly supportedInterfaces: readonly AgentInterface[];
  readonly provider?: AgentProvider;
  readonly version: string;
  readonly documentationUrl?: string;
  readonly capabilities: AgentCapabilities;
  readonly securitySchemes?: Readonly<Record<string, SecurityScheme>>;
  readonly securityRequirements?: readonly SecurityRequirement[];
  readonly defaultInputModes: readonly string[];
  readonly defaultOutputModes: readonly string[];
  readonly skills: readonly AgentSkill[];
  readonly signatures?: readonly AgentCardSignature[];
  readonly iconUrl?: string;
}

/** The message `AgentProvider` of `lf.a2a.v1`. */
export interface AgentProvider {
  readonly url: string;
  readonly organization: string;
}

/** The message `AgentCapabilities` of `lf.a2a.v1`. */
export interface AgentCapabilities {
  readonly streaming?: boolean;
  readonly pushNotifications?: boolean;
  readonly extensions?: readonly AgentExtension[];
  readonly extendedAgentCard?: boolean;
}

/** The message `AgentExtension` of `lf.a2a.v1`. */
export interface AgentExtension {
  readonly uri?: string;
  readonly description?: string;
  readonly required?: boolean;
  readonly params?: Struct;
}

/** The message `AgentSkill` of `lf.a2a.v1`. */
export interface AgentSkill {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly examples?: readonly string[];
  readonly inputModes?: readonly string[];
  readonly outputModes?: readonly string[];
  readonly securityRequirements?: readonly SecurityRequirement[];
}

/** The message `AgentCardSignature` of `lf.a2a.v1`. */
export interface AgentCardSignature {
  readonly protected: string;
  readonly signature: string;
  readonly header?: Struct;
}

/** The message `TaskPushNotificationConfig` of `lf.a2a.v1`. */
export interface TaskPushNotificationConfig {
  readonly tenant?: string;
  readonly id?: string;
  readonly taskId?: string;
  readonly url: string;
  readonly token?: string;
  readonly authentication?: AuthenticationInfo;
}

/** The message `StringList` of `lf.a2a.v1`. */
export interface StringList {
  readonly list?: readonly string[];
}

/** The message `SecurityRequirement` of `lf.a2a.v1`. */
export interface SecurityRequirement {
  readonly schemes?: Readonly<Record<string, StringList>>;
}

/** The message `SecurityScheme` of `lf.a2a.v1`. */
export type SecurityScheme =
  | { readonly apiKeySecurityScheme: APIKeySecurityScheme }
  | { readonly httpAuthSecurityScheme: HTTPAuthSecurityScheme }
  | { readonly oauth2SecurityScheme: OAuth2SecurityScheme }
  | { readonly openIdConnectSecurityScheme: OpenIdConnectSecurityScheme }
  | { readonly mtlsSecurityScheme: MutualTlsSecurityScheme };

/** The message `APIKeySecurityScheme` of `lf.a2a.v1`. */
export interface APIKeySecurityScheme {
  readonly description?: string;
  readonly location: string;
  readonly name: string;
}

/** The message `HTTPAuthSecurityScheme` of `lf.a2a.v1`. */
export interface HTTPAuthSecurityScheme {
  readonly description?: string;
  readonly scheme: string;
  readonly bearerFormat?: string;
}

/** The message `OAuth2SecurityScheme` of `lf.a2a.v1`. */
export interface OAuth2SecurityScheme {
  readonly description?: string;
  readonly flows: OAuthFlows;
  readonly oauth2MetadataUrl?: string;
}

/** The message `OpenIdConnectSecurityScheme` of `lf.a2a.v1`. */
export interface OpenIdConnectSecurityScheme {
  readonly description?: string;
  readonly openIdConnectUrl: string;
}

/** The message `MutualTlsSecurityScheme` of `lf.a2a.v1`. */
export interface MutualTlsSecurityScheme {
  readonly description?: string;
}

/** The message `OAuthFlows` of `lf.a2a.v1`. */
export type OAuthFlows =
  | { readonly authorizationCode: AuthorizationCodeOAuthFlow }
  | { readonly clientCredentials: ClientCredentialsOAuthFlow }
  | { readonly implicit: ImplicitOAuthFlow }
  | { readonly password: PasswordOAuthFlow }
  | { readonly deviceCode: DeviceCodeOAuthFlow };

/** The message `AuthorizationCodeOAuthFlow` of `lf.a2a.v1`. */
export interface AuthorizationCodeOAuthFlow {
  readonly authorizationUrl: string;
  readonly tokenUrl: string;
  readonly refreshUrl?: string;
  readonly scopes: Readonly<Record<string, string>>;
  readonly pkceRequired?: boolean;
}

/** The message `ClientCredentialsOAuthFlow` of `lf.a2a.v1`. */
export interface ClientCredentialsOAuthFlow {
  readonly tokenUrl: string;
  readonly refreshUrl?: string;
  readonly scopes: Readonly<Record<string, string>>;
}

/** The message `ImplicitOAuthFlow` of `lf.a2a.v1`. */
export interface ImplicitOAuthFlow {
  readonly authorizationUrl?: string;
  readonly refreshUrl?: string;
  readonly scopes?: Readonly<Record<string, string>>;
}

/** The message `PasswordOAuthFlow` of `lf.a2a.v1`. */
export interface PasswordOAuthFlow {
  readonly tokenUrl?: string;
  readonly refreshUrl?: string;
  readonly scopes?: Readonly<Record<string, string>>;
}

/** The message `DeviceCodeOAuthFlow` of `lf.a2a.v1`. */
export interface DeviceCodeOAuthFlow {
  readonly deviceAuthorizationUrl: string;
  readonly tokenUrl: string;
  readonly refreshUrl?: string;
  readonly scopes: Readonly<Record<string, string>>;
}

/** The message `SendMessageRequest` of `lf.a2a.v1`. */
export interface SendMessageRequest {
  readonly tenant?: string;
  readonly message: Message;
  readonly configuration?: SendMessageConfiguration;
  readonly metadata?: Struct;
}

/** The message `GetTaskRequest` of `lf.a2a.v1`. */
export interface GetTaskRequest {
  readonly tenant?: string;
  readonly id: string;
  readonly historyLength?: number;
}

/** The message `ListTasksRequest` of `lf.a2a.v1`. */
export interface ListTasksRequest {
  readonly tenant?: string;
  readonly contextId?: string;
  readonly status?: TaskState;
  readonly pageSize?: number;
  readonly pageToken?: string;
  readonly historyLength?: number;
  readonly statusTimestampAfter?: string;
  readonly includeArtifacts?: boolean;
}

/** The message `ListTasksResponse` of `lf.a2a.v1`. */
export interface ListTasksResponse {
  readonly tasks: readonly Task[];
  readonly nextPageToken: string;
  readonly pageSize: number;
  readonly totalSize: number;
}

/** The message `CancelTaskRequest` of `lf.a2a.v1`. */
export interface CancelTaskRequest {
  readonly tenant?: string;
  readonly id: string;
  readonly metadata?: Struct;
}

/** The message `GetTaskPushNotificationConfigRequest` of `lf.a2a.v1`. */
export interface GetTaskPushNotificationConfigRequest {
  readonly tenant?: string;
  readonly taskId: string;
  readonly id: string;
}

/** The message `DeleteTaskPushNotificationConfigRequest` of `lf.a2a.v1`. */
export interface DeleteTaskPushNotificationConfigRequest {
  readonly tenant?: string;
  readonly taskId: string;
  readonly id: string;
}

/** The message `SubscribeToTaskRequest` of `lf.a2a.v1`. */
export interface SubscribeToTaskRequest {
  readonly tenant?: string;
  readonly id: string;
}

/** The message `ListTaskPushNotificationConfigsRequest` of `lf.a2a.v1`. */
export interface ListTaskPushNotificationConfigsRequest {
  readonly tenant?: string;
  readonly taskId: string;
  readonly pageSize?: number;
  readonly pageToken?: string;
}

/** The message `GetExtendedAgentCardRequest` of `lf.a2a.v1`. */
export interface GetExtendedAgentCardRequest {
  readonly tenant?: string;
}

/** The message `SendMessageResponse` of `lf.a2a.v1`. */
export type SendMessageResponse = { readonly task: Task } | { readonly message: Message };

/** The message `StreamResponse` of `lf.a2a.v1`. */
export type StreamResponse =
  | { readonly task: Task }
  | { readonly message: Message }
  | { readonly statusUpdate: TaskStatusUpdateEvent }
  | { readonly artifactUpdate: TaskArtifactUpdateEvent };

/** The message `ListTaskPushNotificationConfigsResponse` of `lf.a2a.v1`. */
export interface ListTaskPushNotificationConfigsResponse {
  readonly configs?: readonly TaskPushNotificationConfig[];
  readonly nextPageToken?: string;
}
