package io.varve.experiments.run.context;

import java.io.IOException;
import java.nio.file.Path;

import io.varve.experiments.server.Target;

/** Starts the servers of a run that has several. Used by the thread that does the run. */
public interface ServerStarter {
    /** @param directory receives the server's output */
    Target start(String configuration, Path directory) throws IOException;
}
