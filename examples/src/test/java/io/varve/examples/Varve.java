package io.varve.examples;

import java.io.IOException;
import java.time.Duration;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.varve.server.VarveServer;
import io.varve.server.config.ServerConfig;

/** Starts a server and a client for each test. Immutable: static methods only. */
final class Varve {
    static final String HOST = "127.0.0.1";

    private Varve() {}

    /** A small server on a free port. */
    static VarveServer start() throws IOException {
        return VarveServer.start(ServerConfig.defaults().with("port", "0").with("maxmemory", "64mb"));
    }

    static RedisClient lettuce(VarveServer varve) {
        return RedisClient.create(RedisURI.builder().withHost(HOST).withPort(varve.port())
                .withTimeout(Duration.ofSeconds(20)).build());
    }
}
