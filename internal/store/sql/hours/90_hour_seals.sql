-- That the hour is sealed: written last, so that a seal cut short is done again.
INSERT INTO {{.Database}}.hour_seals (hour, version) SELECT {{.Hour}}, {{.Version}}
