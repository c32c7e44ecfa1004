package io.varve.server.following;

import org.jspecify.annotations.Nullable;

/** A primary to follow: each request has one of its own, so that two of them are never equal. Immutable. */
final class Target {
    private final String host;
    private final int port;
    private final @Nullable Runnable onHanded;

    /**
     * @param onHanded if it is a replica that has to become the primary first: runs when it has, or has refused. Null
     *     for others
     */
    Target(String host, int port, @Nullable Runnable onHanded) {
        this.host = host;
        this.port = port;
        this.onHanded = onHanded;
    }

    String host() {
        return host;
    }

    int port() {
        return port;
    }

    @Nullable
    Runnable onHanded() {
        return onHanded;
    }
}
