/**
 * TLS by means of the JDK: certificates, keys, protocols and cipher suites from the settings.
 *
 * <p>Lives here: the readers and checks of the files that the {@code tls-} settings name, and the creation of engines.
 * Must not live here: sockets and channels.
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.tls;
