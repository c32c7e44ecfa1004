package io.varve.experiments;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/** A class that does not exist ends {@code ycsb} with an error and a status. Confined to the test's thread. */
class YcsbClientIT {
    @TempDir
    Path folder;

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "-load -db no.such.Db -p workload=site.ycsb.workloads.CoreWorkload|-db|no.such.Db",
            "-t -db site.ycsb.BasicDB -p workload=no.such.Workload|-p (workload)|no.such.Workload",
            "-load -P FILE|-P FILE (db)|no.such.Db"})
    void aClassThatDoesNotExist_isStatus2(String arguments, String option, String className)
            throws IOException, InterruptedException {
        String file = Files.writeString(folder.resolve("a.properties"),
                "workload=site.ycsb.workloads.CoreWorkload\ndb=no.such.Db\n").toString();
        List<String> command = new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1", "-cp",
                        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                        "io.varve.experiments.YcsbClient"));
        command.addAll(List.of(arguments.replace("FILE", file).split(" ")));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).isEqualTo(2);
        assertThat(text).isEqualTo("varve: ycsb " + option.replace("FILE", file) + ": unknown class " + className
                + "\n");
    }
}
