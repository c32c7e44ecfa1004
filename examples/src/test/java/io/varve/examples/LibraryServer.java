package io.varve.examples;

import java.io.IOException;

import io.varve.server.VarveServer;
import org.jspecify.annotations.Nullable;

/**
 * The server of a test of a library: a Varve, or the server on 127.0.0.1 whose port {@code -Dvarve.examples.port}
 * gives, such as a Redis to compare with. Immutable.
 */
record LibraryServer(int port, @Nullable VarveServer varve) implements AutoCloseable {
    static LibraryServer start() throws IOException {
        int other = Integer.getInteger("varve.examples.port", 0);
        if (other != 0) {
            return new LibraryServer(other, null);
        }
        VarveServer varve = Varve.start();
        return new LibraryServer(varve.port(), varve);
    }

    @Override
    public void close() {
        if (varve != null) {
            varve.close();
        }
    }
}
