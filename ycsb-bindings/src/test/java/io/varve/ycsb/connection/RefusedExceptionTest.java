package io.varve.ycsb.connection;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Properties;

import io.varve.ycsb.VarveClient;
import org.junit.jupiter.api.Test;
import site.ycsb.DBException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/** Tests YCSB's output for a client that does not start. Confined to the test's thread. */
class RefusedExceptionTest {

    @Test
    void errorIsOneLineWithAnyNumberOfThreads() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        PrintStream stream = new PrintStream(bytes, true, StandardCharsets.UTF_8);
        for (int thread = 0; thread < 3; thread++) {
            VarveClient client = new VarveClient();
            Properties properties = new Properties();
            properties.setProperty("varve.ttls", "15,often");
            client.setProperties(properties);
            DBException refused = catchThrowableOfType(DBException.class, client::init);
            // As YCSB does it: one to standard error and one to standard output.
            refused.printStackTrace(stream);
            refused.printStackTrace(stream);
            assertThat(refused).hasCauseInstanceOf(IllegalArgumentException.class);
        }
        assertThat(bytes.toString(StandardCharsets.UTF_8).lines()).singleElement().asString()
                .startsWith("varve: varve.ttls=15,often: expected seconds above zero");
    }
}
