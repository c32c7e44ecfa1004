package io.varve.experiments.definition;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import io.varve.server.config.ByteOrderMark;

/** Reads the YAML files of {@code workloads/}. Stateless. */
public final class YamlFile {
    private static final JsonMapper YAML = JsonMapper.builder(new YAMLFactory())
            .propertyNamingStrategy(PropertyNamingStrategies.KEBAB_CASE)
            .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .enable(MapperFeature.ACCEPT_CASE_INSENSITIVE_ENUMS)
            .build();

    private YamlFile() {}

    /**
     * The file as a record whose components are named as the file's keys, in kebab case.
     *
     * @throws InvalidExperimentException if the file is no YAML, or has an unknown key; it names file and line
     */
    public static <T> T read(Path file, Class<T> type) throws IOException {
        try (InputStream in = ByteOrderMark.skip(Files.newInputStream(file))) {
            return YAML.readValue(in, type);
        } catch (JsonProcessingException e) {
            throw new InvalidExperimentException(file + ": " + e.getOriginalMessage() + " (line "
                    + (e.getLocation() == null ? "?" : e.getLocation().getLineNr()) + ")", e);
        }
    }
}
