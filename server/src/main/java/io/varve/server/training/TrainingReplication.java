package io.varve.server.training;

import java.io.IOException;
import javax.net.SocketFactory;

/**
 * A replica's part of a training run: it attaches while clients write, so that the first one in production does not
 * hold up clients while classes are loaded. It is a small part, because most servers in use send no changes to a
 * replica, and the profiles are theirs. Stateless.
 */
public final class TrainingReplication {
    private static final int CONNECTIONS = 16;
    private static final int PIPELINE = 16;
    /** Keys of the snapshot for each request: it has to last for some time. */
    private static final int KEYS_PER_REQUEST = 4;

    private TrainingReplication() {}

    /**
     * Runs it.
     *
     * @param requests number of requests of SET; the snapshot has four times as many keys
     * @return the first error reply; empty if there was none
     */
    public static String run(SocketFactory sockets, int port, int requests) throws IOException {
        try (TrainingClient client = new TrainingClient(sockets, port, CONNECTIONS)) {
            TrainingCommands commands = new TrainingCommands(client, PIPELINE);
            for (int i = 0; i < requests * KEYS_PER_REQUEST; i++) {
                client.queue("SET", "replicated:" + i, "value:" + i);
                if (i % PIPELINE == 0) {
                    client.flush();
                }
            }
            int rarely = Math.max(1, requests / PIPELINE);
            commands.send(rarely, "SET $key $value EX 100", "HSET $hash f $value", "RPUSH $list $value",
                    "SADD $set $member", "SADD integers $number", "ZADD $zset $score $member");
            try (TrainingReplica replica = new TrainingReplica(sockets, port)) {
                write(commands, requests);
                replica.awaitSnapshot();
                write(commands, requests);
                commands.send(1, "WAIT 1 1000", "INFO replication", "ROLE");
            }
            commands.send(1, "FLUSHALL");
            return client.firstError();
        }
    }

    private static void write(TrainingCommands commands, int requests) throws IOException {
        commands.send(requests, "SET $key $value");
        commands.send(Math.max(1, requests / PIPELINE), "INCR $counter", "SET $key $value EX 100", "DEL $key",
                "HSET $hash f $value", "RPUSH $list $value", "SADD $set $member", "ZADD $zset $score $member",
                "EXPIRE $key 100");
    }
}
