package io.varve.proxy.map;

import org.jspecify.annotations.Nullable;

/**
 * The address of a member. Immutable.
 *
 * @param host a name or an address; an IPv6 address without brackets
 * @param port from 1 to 65535
 */
public record Endpoint(String host, int port) {
    private static final int MAX_PORT = 65_535;

    /** Reads {@code HOST:PORT} or {@code [IPV6]:PORT}. @return null if the text is no address */
    public static @Nullable Endpoint parse(String text) {
        int colon = text.lastIndexOf(':');
        if (colon < 1 || !text.substring(colon + 1).matches("\\d{1,5}")) {
            return null;
        }
        String host = text.substring(0, colon);
        if (host.startsWith("[") && host.endsWith("]")) {
            host = host.substring(1, host.length() - 1);
        }
        int port = Integer.parseInt(text.substring(colon + 1));
        return host.isEmpty() || port < 1 || port > MAX_PORT ? null : new Endpoint(host, port);
    }

    @Override
    public String toString() {
        return host + ':' + port;
    }
}
