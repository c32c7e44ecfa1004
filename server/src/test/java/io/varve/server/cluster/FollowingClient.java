package io.varve.server.cluster;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;

import io.varve.server.testing.RawClient;
import io.varve.server.testing.RawReply;

/** A client that follows MOVED, as clients of clusters do. Confined to one thread. */
final class FollowingClient implements AutoCloseable {
    private static final int MAX_REDIRECTS = 1_000;
    private static final String NO_OWNER = ": no member owns the slot after " + MAX_REDIRECTS + " redirects";

    private final Map<Integer, RawClient> clients = new HashMap<>();
    private final Map<String, Integer> ports = new HashMap<>();
    private final int firstPort;
    private long redirects;

    FollowingClient(int firstPort) {
        this.firstPort = firstPort;
    }

    /** @param key decides where the command goes first */
    RawReply call(String key, String... command) throws IOException {
        int port = ports.getOrDefault(key, firstPort);
        for (int i = 0; i < MAX_REDIRECTS; i++) {
            RawReply reply = client(port).call(command);
            if (!reply.isError() || !reply.text().startsWith("MOVED ")) {
                ports.put(key, port);
                return reply;
            }
            port = Integer.parseInt(reply.text().substring(reply.text().lastIndexOf(':') + 1));
            redirects++;
        }
        throw new IOException(key + NO_OWNER);
    }

    /** Whether each member says that another one owns the slot, and no connection is lost. */
    static boolean isRedirectLoop(IOException failure) {
        return String.valueOf(failure.getMessage()).endsWith(NO_OWNER);
    }

    private RawClient client(int port) throws IOException {
        RawClient open = clients.get(port);
        if (open == null) {
            open = new RawClient(port);
            clients.put(port, open);
        }
        return open;
    }

    long redirects() {
        return redirects;
    }

    @Override
    public void close() throws IOException {
        for (RawClient client : clients.values()) {
            client.close();
        }
    }
}
