package io.varve.server.following;

import java.io.IOException;

import io.varve.cluster.map.Member;
import io.varve.server.config.ServerConfig;

/** A connection for single commands to another member of the cluster. Confined to one thread, except {@link #close}. */
public final class MemberConnection implements AutoCloseable {
    private final PrimaryConnection connection = new PrimaryConnection();

    private MemberConnection() {}

    /**
     * Connects as a replica does: with TLS, user and password of the settings.
     *
     * @param timeoutMillis for connecting, and for each reply
     */
    public static MemberConnection open(ServerConfig config, Member member, int timeoutMillis) throws IOException {
        MemberConnection opened = new MemberConnection();
        try {
            opened.connection.connect(member.host(), member.port(), config, timeoutMillis);
            opened.connection.authenticate(config);
            return opened;
        } catch (IOException failed) {
            opened.close();
            throw failed;
        }
    }

    /** Sends a command, and returns the first line of its reply. */
    public String ask(String... command) throws IOException {
        return connection.ask(command);
    }

    @Override
    public void close() {
        connection.close();
    }
}
