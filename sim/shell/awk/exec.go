package awk

func (m *machine) block(list []stmt) jump {
	for _, s := range list {
		if j := m.exec(s); j != goOn {
			return j
		}
	}
	return goOn
}

func (m *machine) exec(s stmt) jump {
	switch s := s.(type) {
	case exprStmt:
		m.eval(s.x)
	case printStmt:
		m.print(s)
	case ifStmt:
		if m.condition(s.test) {
			return m.block(s.yes)
		}
		return m.block(s.no)
	case whileStmt:
		return m.while(s)
	case forStmt:
		return m.loop(s)
	case forInStmt:
		return m.forIn(s)
	case blockStmt:
		return m.block(s.body)
	case deleteStmt:
		m.delete(s)
	case jumpStmt:
		return m.jump(s)
	}
	return goOn
}

func (m *machine) jump(s jumpStmt) jump {
	switch {
	case s.kind == jumpExit && s.value != nil:
		m.code = int(m.eval(s.value).toNum()) & 0xff
	case s.kind == jumpReturn && s.value != nil:
		m.result = m.eval(s.value)
	case s.kind == jumpReturn:
		m.result = value{}
	}
	return s.kind
}

// leaves says whether j ends a loop, and what goes on outside it.
func leaves(j jump) (bool, jump) {
	switch j {
	case goOn, jumpContinue:
		return false, goOn
	case jumpBreak:
		return true, goOn
	}
	return true, j
}

func (m *machine) while(s whileStmt) jump {
	for s.after || m.condition(s.test) {
		m.tick()
		if out, j := leaves(m.block(s.body)); out {
			return j
		}
		if s.after && !m.condition(s.test) {
			break
		}
	}
	return goOn
}

func (m *machine) loop(s forStmt) jump {
	if s.init != nil {
		m.exec(s.init)
	}
	for s.test == nil || m.condition(s.test) {
		m.tick()
		if out, j := leaves(m.block(s.body)); out {
			return j
		}
		if s.step != nil {
			m.exec(s.step)
		}
	}
	return goOn
}

func (m *machine) forIn(s forInStmt) jump {
	table := m.cell(s.array).table()
	for _, key := range sortedKeys(table) {
		if _, there := table[key]; !there {
			continue
		}
		m.tick()
		m.assign(s.name, fromIn(key))
		if out, j := leaves(m.block(s.body)); out {
			return j
		}
	}
	return goOn
}

func (m *machine) delete(s deleteStmt) {
	table := m.cell(s.array).table()
	if s.subs == nil {
		clear(table)
		return
	}
	delete(table, m.key(s.subs))
}
