package io.varve.proxy.map;

/**
 * How the proxy authenticates to members. Immutable.
 *
 * @param user empty: the default user
 * @param password empty: it does not authenticate
 */
public record MemberCredentials(String user, String password) {
    public boolean isNone() {
        return password.isEmpty();
    }

    @Override
    public String toString() {
        return isNone() ? "none" : "(hidden)";
    }
}
