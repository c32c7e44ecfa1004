/**
 * TLS as the JDK has it: certificates, keys, protocols and cipher suites from the settings.
 *
 * <p>Lives here: what reads and checks the files that the {@code tls-} settings name, and makes engines. Must not live
 * here: sockets and channels.
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.tls;
