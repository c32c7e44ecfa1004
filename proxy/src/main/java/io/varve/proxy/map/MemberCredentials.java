package io.varve.proxy.map;

import io.varve.server.tls.TlsContext;
import org.jspecify.annotations.Nullable;

/**
 * How the proxy and the members authenticate to each other. Immutable.
 *
 * @param user empty: the default user
 * @param password empty: it does not authenticate
 * @param tls verifies members, and may have a certificate for them; null: connections have no TLS
 */
public record MemberCredentials(String user, String password, @Nullable TlsContext tls) {
    /** Whether there is no password. */
    public boolean isNone() {
        return password.isEmpty();
    }

    @Override
    public String toString() {
        return isNone() ? "none" : "(hidden)";
    }
}
