package io.varve.proxy.member;

import io.varve.proxy.map.MemberCredentials;

/**
 * How the proxy connects to members. Immutable.
 *
 * @param connectTimeoutMillis for a connection and its handshake
 * @param replyTimeoutMillis for a reply
 * @param connections shared connections of an event loop to a member
 * @param mergeWindowMillis how long requests wait for others to the same member; 0: for those that arrived together
 * @param maxReplyBytes maximum size of a reply
 * @param maxDedicated maximum number of an event loop's dedicated connections
 */
public record MemberSettings(MemberCredentials credentials, int connectTimeoutMillis, int replyTimeoutMillis,
        int connections, int mergeWindowMillis, long maxReplyBytes, int maxDedicated) {}
